"""docs/safety.md: every promise has its tests, and every test that it names is there and runs where it says."""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "safety.md"
STATIC = HERE.parent / "server" / "static"
ROW = re.compile(r"^\| ([SR]\d+) \| (.{40,}?) \| ([^|]*) \| ?([^|]*)\|$", re.MULTILINE)
SECURITY = [*range(1, 19), 20, 21, 23, 24]
RELIABILITY = [*range(1, 5), *range(6, 22), 24, 25]
VENDORED = re.compile(r"^\| `([^`]+)` .*\| `([0-9a-f]{64})` \|$", re.MULTILINE)


@cache
def written_tests() -> dict[str, str]:
    """Return all tests there are, each with the marks it bears and those of its file."""
    found = {}
    for file in HERE.rglob("test_*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        named = {ast.unparse(each.targets[0]): each for each in tree.body if isinstance(each, ast.Assign)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                marks = " ".join(ast.unparse(mark) for mark in node.decorator_list)
                used = [ast.unparse(named[name]) for name in re.findall(r"\b[A-Z_]{4,}\b", marks) if name in named]
                found[node.name] = " ".join([marks, *used])
    return found


def rows() -> list[tuple[str, list[str], list[str]]]:
    """Return the number of each promise, its tests, and those that run longer among the long trials."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return [(number, re.findall(r"`(\w+)`", short), re.findall(r"`(\w+)`", long)) for number, _, short, long in found]


def is_long(test: str) -> bool:
    """Whether a test is, or has cases that are, among the long trials."""
    return bool(re.search(r"hardship|efforts\(", written_tests()[test]))


def test_every_promise_is_there_with_its_tests() -> None:
    numbers = [f"S{number}" for number in SECURITY] + [f"R{number}" for number in RELIABILITY]
    assert [number for number, _, _ in rows()] == numbers
    for number, short, long in rows():
        assert short, number
        for test in [*short, *long]:
            assert test in written_tests(), f"{number} names {test}"
        assert [test for test in long if not is_long(test)] == [], number
        assert [test for test in short if is_long(test) and test not in long] == [], number


def test_a_test_named_by_a_number_is_listed_under_it() -> None:
    listed = {(number.lower(), test) for number, short, long in rows() for test in [*short, *long]}
    for test in written_tests():
        if found := re.match(r"test_([sr]\d+)_", test):
            assert (found[1], test) in listed, test


def test_s23_files_made_elsewhere_are_those_that_are_listed() -> None:
    listed = dict(VENDORED.findall((STATIC / "VENDORED.md").read_text(encoding="utf-8")))
    assert len(listed) >= 4
    for name, digest in listed.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest, name
    fonts = {file.relative_to(STATIC).as_posix() for file in STATIC.rglob("*") if file.suffix in {".woff2", ".ttf"}}
    assert fonts <= set(listed)
