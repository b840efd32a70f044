"""The language sentences are said in just now: English, unless who speaks for somebody has chosen another.

Whatever a person reads passes through `gettext` or `ngettext` where it is said, never where it is stored: logs, records
and databases hold codes and notation. A sentence with facts in it keeps them apart from its wording, in `{name}`
fields: `_("{name} resigned.").format(name=name)`. Languages are brought by whoever calls the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations
from typing import Final

_ENGLISH: Final = NullTranslations()
_spoken: ContextVar[NullTranslations] = ContextVar("spoken", default=_ENGLISH)


def spoken() -> NullTranslations:
    """Return the translations of the language spoken just now."""
    return _spoken.get()


@contextmanager
def speaking(translations: NullTranslations) -> Iterator[None]:
    """Speak another language inside the block."""
    before = _spoken.set(translations)
    try:
        yield
    finally:
        _spoken.reset(before)


def gettext(message: str) -> str:
    """Return a sentence, given in English, in the language spoken just now."""
    return _spoken.get().gettext(message)


def pgettext(context: str, message: str) -> str:
    """Return a word that means several things in English; `context` tells which of them is meant here."""
    return _spoken.get().pgettext(context, message)


def ngettext(one: str, many: str, number: int) -> str:
    """Return the form of a sentence that goes with a number; in English one of two, elsewhere of more."""
    return _spoken.get().ngettext(one, many, number)


def later(message: str) -> str:
    """Mark a sentence for translation that is said elsewhere, by `gettext`; return it as it is."""
    return message
