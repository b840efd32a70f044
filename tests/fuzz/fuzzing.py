"""What the fuzzing shares: how long it lasts, texts that are nearly right, and a bound on the time of each example."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as some

LONGEST = 2.0
"""No example may take more seconds of the processor; what reads in a time that grows with the square takes more."""

# What breaks readers: signs that mean something, that show as nothing, that turn lines round, and halves of pairs.
NASTY = "\0\r\n\t \x0b\x1c\x85\u00a0\u00ad\u200b\u200e\u2028\u202e\ufeff\ufffd\ud800\udfff\"'\\/<>&;:,@=?%+-.#()[]{}"
signs = some.characters() | some.sampled_from(NASTY) | some.characters(categories=["Cs", "Cc", "Nd", "Mn"])
texts = some.text(signs, max_size=60)


@dataclass(frozen=True)
class Effort:
    """How long to fuzz: so many examples of a fixed seed, or for so many seconds with ever another one."""

    examples: int
    seconds: float = 0
    done: list[str] = field(default_factory=list)
    """Of each run how many examples it had."""

    def of(self, body: Callable[..., None], /, **drawn: some.SearchStrategy[Any]) -> None:
        """Call the body with drawn values.

        Of a failure the smallest example is printed, and what is needed to see it again.
        """
        count, end = 0, time.monotonic() + self.seconds

        def bounded(**values: Any) -> None:
            nonlocal count
            count += 1
            with quick():
                body(**values)

        while True:
            number = secrets.randbits(32) if self.seconds else 0
            try:
                seed(number)(rules(self.examples)(given(**drawn)(bounded)))()
            except BaseException as fault:
                fault.add_note(f"the seed was {number}")
                raise
            if time.monotonic() >= end:
                self.done.append(f"{count} examples")
                return


def rules(examples: int) -> settings:
    """Return the settings of a run: nothing is kept from one to the next, and a run is as long as it is."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )


@contextmanager
def quick() -> Iterator[None]:
    """Expect the block to take no more of the processor than an example may."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < LONGEST, f"{took:.1f} s for one example"


def efforts(examples: int, seconds: float) -> pytest.MarkDecorator:
    """Run a test with so many examples by default, and for so many seconds among the long trials."""
    long = pytest.param(Effort(500, seconds), marks=pytest.mark.hardship, id="long")
    return pytest.mark.parametrize("effort", [pytest.param(Effort(examples), id="short"), long])


@some.composite
def mutated(draw: some.DrawFn, originals: Sequence[str], most: int = 5) -> str:
    """Draw one of the texts, changed in some places: cut, doubled, moved, or with signs put in."""
    text = draw(some.sampled_from(originals))
    for _ in range(draw(some.integers(0, most))):
        start, end = sorted(draw(some.tuples(*[some.integers(0, len(text))] * 2)))
        piece = draw(some.sampled_from((text[start:end], "", text[start:end] * 2)) | some.text(signs, max_size=8))
        text = text[:start] + piece + text[end if draw(some.booleans()) else start :]
    return text[:200_000]


def spoilt(raw: bytes, chance: random.Random, most: int = 6) -> bytes:
    """Return bytes changed in some places: flipped, cut out, repeated, or swapped with others."""
    for _ in range(chance.randint(0, most)):
        start = chance.randint(0, len(raw))
        end = min(len(raw), start + chance.choice((1, 2, 8, 60, 500)))
        piece = raw[start:end]
        new = chance.choice(
            (b"", piece * 2, piece * 40, chance.randbytes(len(piece)), piece[::-1], bytes(byte ^ 1 for byte in piece))
        )
        raw = raw[:start] + new + raw[end:]
    return raw


chances = some.integers(0, 2**32 - 1).map(random.Random)


def told(fault: Exception, beginning: str = "") -> None:
    """Expect a refusal to say something, in one line."""
    assert str(fault).startswith(beginning)
    assert str(fault).strip()
    assert "\n" not in str(fault)
