"""What a program may be told is written down."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from server import errors

ROOT = Path(__file__).parent.parent.parent


def test_the_documentation_lists_every_refusal_and_no_other() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \| (.+?) \|$", text, re.MULTILINE)
    assert {code: (int(status), when) for code, status, when in rows} == errors.CODES
    assert [code for code, _, _ in rows] == sorted(errors.CODES)


def test_every_refusal_in_the_code_has_a_listed_code() -> None:
    used = set()
    for file in (ROOT / "server").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Refused":
                used |= {arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)}
    assert used <= set(errors.CODES)


def test_a_refusal_bears_its_code_sentence_and_status() -> None:
    for code, (status, _) in errors.CODES.items():
        fault = errors.Refused(code, "No.", choices=["a"], since=["b"])
        assert (fault.code, fault.sentence, fault.status, str(fault)) == (code, "No.", status, "No.")
        assert (fault.choices, fault.since) == (("a",), ("b",))
        assert 400 <= status < 600
