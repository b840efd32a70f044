"""docs/expectations.md names one test for each point, and every such test has its point."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "expectations.md"
POINT = re.compile(r"^\| (\d+) \| (.{40,}) \| `(test_\w+)` \|$", re.MULTILINE)


def written_tests() -> list[str]:
    """Return the names of the numbered tests, in the order of their numbers."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in HERE.glob("test_expectations_*.py")]
    named = [node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return sorted(name for name in named if re.match(r"test_\d", name))


def test_each_point_has_its_test_and_each_test_its_point() -> None:
    points = POINT.findall(PAGE.read_text(encoding="utf-8"))
    assert [int(number) for number, _said, _test in points] == list(range(1, 23))
    assert [test for _number, _said, test in points] == written_tests()
    assert all(test.startswith(f"test_{int(number):02}_") for number, _said, test in points)
