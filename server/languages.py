"""The languages of the house: which there are, their catalogues, how each writes instants and numbers.

The catalogues are `translations/<code>/LC_MESSAGES/messages.po`, kept by `make messages` and read as they are: a
language takes about half a second when a process first speaks it, and English none.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import cache, lru_cache
from gettext import NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel import Locale
from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog
from babel.support import Translations
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from engine import language

FOLDER: Final = Path(__file__).parent.parent / "translations"
LANGUAGES: Final = {"en": "English", "cs": "Čeština", "de": "Deutsch"}
"""The code of each language and its own name for itself."""


class _Spoken(Translations):
    """The translations of one language, which know which one it is."""

    code = "en"


def catalogue(code: str) -> Catalog:
    """Return what is translated into a language. Raises `OSError` and `ValueError` if the file cannot be read."""
    with (FOLDER / code / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return pofile.read_po(file, locale=code, abort_invalid=True)


@cache
def translations(code: str) -> NullTranslations:
    """Return the translations of a language, the same object each time; English for one that is not spoken here."""
    if code not in LANGUAGES or code == "en":
        return NullTranslations()
    compiled = BytesIO()
    mofile.write_mo(compiled, catalogue(code))
    compiled.seek(0)
    spoken = _Spoken(compiled)
    spoken.code = code
    return spoken


def speaking(code: str) -> AbstractContextManager[None]:
    """Speak a language inside the block: what is said there, in engine and server, is said in it."""
    return language.speaking(translations(code))


def teach(environment: Environment) -> None:
    """Let the templates of an environment speak the language spoken just now."""
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        language.gettext, language.ngettext, newstyle=True, pgettext=language.pgettext
    )
    environment.globals["_"] = environment.globals["gettext"] = _say
    # What comes out of a variable, say a code of the log: unlike a sentence of a template it holds no markup.
    environment.filters["said"] = language.gettext


@pass_context
def _say(context: Context, message: str, /, **facts: Any) -> str:
    """Return a sentence of a template as Jinja's own `gettext` does, those without facts once for all."""
    found = _said(language.spoken(), message, markup=context.eval_ctx.autoescape, whole=not facts)
    return found % facts if facts else found


@lru_cache(maxsize=4096)
def _said(spoken: NullTranslations, message: str, *, markup: bool, whole: bool) -> str:
    found = Markup(spoken.gettext(message)) if markup else spoken.gettext(message)  # noqa: S704 - it is our own
    return found % {} if whole else found


def current() -> str:
    """Return the code of the language spoken just now."""
    return getattr(language.spoken(), "code", "en")


def locale() -> Locale:
    """Return how the language spoken just now writes instants, numbers and plurals."""
    return _locale(current())


@cache
def _locale(code: str) -> Locale:
    return Locale.parse(code)


def best(wanted: Iterable[str]) -> str:
    """Return the first of some language tags, such as those of a browser, that is spoken here; else English."""
    spoken = (tag.replace("_", "-").partition("-")[0].lower() for tag in wanted)
    return next((code for code in spoken if code in LANGUAGES), "en")


def script_words(code: str) -> dict[str, str | list[str]]:
    """Return what the scripts of the pages say: each English sentence with its translation, or its plural forms."""
    if code == "en":
        return {}
    return {
        message.id if isinstance(message.id, str) else message.id[0]: (
            message.string if isinstance(message.string, str) else list(message.string or ())
        )
        for message in catalogue(code)
        if message.id and any(place.endswith(".js") for place, _ in message.locations)
    }
