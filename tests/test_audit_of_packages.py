"""`make audit` names what is weak, and never passes for an audit that did not take place."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from tools import audit

SOUND = {"name": "flask", "version": "3.1.0", "vulns": []}
WEAK = {"name": "jinja2", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": []}]}
UNKNOWN = {"name": "peewee", "skip_reason": "Dependency not found on PyPI"}


def told(*packages: dict[str, Any], asked: int = 1) -> tuple[bool, str]:
    known, lines = audit.told([{"dependencies": list(packages)}], asked)
    return known, "\n".join(lines)


def test_a_weakness_is_named_with_the_version_that_mends_it() -> None:
    assert told(SOUND, WEAK) == (True, "jinja2 1.0: PYSEC-1, mended in 1.1")


def test_nothing_known_is_said_with_the_number_of_packages() -> None:
    assert told(SOUND) == (False, "No weakness is known in 1 packages.")


def test_an_audit_that_did_not_take_place_is_told_loudly() -> None:
    for known, said in (told(UNKNOWN), told(), told(SOUND, asked=2)):
        assert not known
        assert "NOT AUDITED" in said
    assert told(SOUND, UNKNOWN)[1].startswith("NOTE: 1 of 2 packages")
    assert told(WEAK, UNKNOWN)[0]


@pytest.mark.parametrize("output", ["", "not json"])
def test_no_report_is_no_audit(
    output: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_more: SimpleNamespace(stdout=output))
    assert audit.main() == 0
    assert "NOT AUDITED" in capsys.readouterr().out
