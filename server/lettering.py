"""What letters of a name look like: which script they are of, and which of them can be taken for Latin ones."""

from __future__ import annotations

import unicodedata
from typing import Final

# The first word of a character's name in Unicode tells its script; these belong to another of that name.
_SCRIPTS: Final = {
    "HIRAGANA": "CJK",
    "KATAKANA": "CJK",
    "KATAKANA-HIRAGANA": "CJK",
    "IDEOGRAPHIC": "CJK",
    "BOPOMOFO": "CJK",
    "ARABIC-INDIC": "ARABIC",
    "EXTENDED": "ARABIC",
}
# Case-folded letters, Cyrillic and then Greek, that look like Latin ones, as they are or as capitals.
_LOOKS: Final = str.maketrans(
    "\u0430\u0432\u0435\u0455\u0456\u0457\u0458\u043a\u04cf\u043c\u043d\u043e\u0440\u0441\u0501\u0442\u0443\u04af\u0445\u04bb"
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abesiijklmhopcdtyyxhabehikmnoptyx",
)


def scripts(text: str) -> set[str]:
    """Return the scripts of the letters in a text. Common signs are of none, Han and Kana are one."""
    found = set()
    for mark in unicodedata.normalize("NFKC", text):
        category = unicodedata.category(mark)
        # Spacing modifiers, such as the apostrophe of Hawaiian, go with any script, and so do our own digits.
        if not (mark.isalnum() and (category != "Lm" or mark in "\u30fc\u3005\u303b")) or (
            mark.isascii() and mark.isdigit()
        ):
            continue
        script = unicodedata.name(mark, "UNKNOWN").split()[0]
        found.add(_SCRIPTS.get(script, script))
    return found


def mixed(text: str) -> bool:
    """Whether the letters are of several scripts, as in a Latin name with a Cyrillic letter that looks like its own."""
    found = scripts(text)
    # Korean is written in two.
    return len(found) > 1 and found != {"HANGUL", "CJK"}


def looks(text: str) -> str:
    """Return a case-folded text with all that looks like a Latin letter replaced by that."""
    return text.translate(_LOOKS)
