"""The templates of mails: with what they are given they become text, and HTML with its styles in each element."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import css_inline
import jinja2

from engine.language import later
from server import languages, wording
from server.inbound.quotes import MARKER

TEMPLATES: Final = Path(__file__).parent.parent / "templates" / "mail"
# What the line above which answers stand says, in the reader's language.
ABOVE: Final = later("Please write your answer above this line.")


def text(kind: str, facts: Mapping[str, Any]) -> str:
    """Return the text part of a mail of that kind."""
    said = _environment().get_template(f"{kind}.txt").render(facts).strip() + "\n"
    # In English the marker says it itself; in any other language it stays, to be known again.
    marker = MARKER if facts["language"] == "en" else f"{MARKER}\n{facts['above']}"
    return f"{marker}\n\n{said}" if facts["reply_to"] else said


def html(kind: str, facts: Mapping[str, Any]) -> str:
    """Return the HTML part of a mail of that kind."""
    return _inliner().inline(_environment().get_template(f"{kind}.html").render(facts))


@cache
def _inliner() -> css_inline.CSSInliner:
    return css_inline.CSSInliner(load_remote_stylesheets=False)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["wrapped"] = wording.wrapped
    environment.filters["listed"] = wording.listed
    languages.teach(environment)
    return environment
