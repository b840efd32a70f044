"""Sentences are said where the catalogues can see them: Python's own reader does not look inside f-strings."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = [file for room in ("engine", "server") for file in sorted((ROOT / room).rglob("*.py"))]
SAYING = {"_", "gettext", "ngettext", "pgettext", "later", "Phrase", "plural"}


def unseen(tree: ast.AST) -> set[int]:
    """Return the lines on which a sentence is said inside an f-string, or is an f-string."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found |= {call.lineno for call in ast.walk(node) if isinstance(call, ast.Call) and _says(call)}
        elif isinstance(node, ast.Call) and _says(node):
            found |= {node.lineno for argument in node.args if isinstance(argument, ast.JoinedStr)}
    return found


def _says(call: ast.Call) -> bool:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    texts = [one for one in call.args if isinstance(one, ast.Constant | ast.JoinedStr)]
    return name in SAYING and bool(texts)


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_sentence_is_said_inside_an_f_string(file: Path) -> None:
    assert not unseen(ast.parse(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("source", ["f\"{_('Hello')}!\"", '_(f"Hello {name}")', "f\"{ngettext('a', 'b', n)}\""])
def test_a_sentence_in_an_f_string_is_found(source: str) -> None:
    assert unseen(ast.parse(source)) == {1}
