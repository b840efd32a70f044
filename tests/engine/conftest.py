"""Bounds for the property tests of the engine, so that the whole folder stays quick."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "engine", max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("engine")
