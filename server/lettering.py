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
# Case-folded letters of Cyrillic, Greek and Armenian that look like Latin ones, small or as capitals.
_LOOKS: Final = str.maketrans(
    "авеєѕіїјкӏмнгорсԁтуүԛԝхһзьαβεηικλνορτυχμօոսհ",
    "abeesiijklmhropcdtyyqwxhzbabenikavoptuxmonuh",
)


def scripts(text: str) -> set[str]:
    """Return the scripts of the letters in a text. Common signs are of none, Han and Kana are one."""
    found = set()
    for mark in unicodedata.normalize("NFKC", text):
        category = unicodedata.category(mark)
        # Spacing modifiers, such as the apostrophe of Hawaiian, go with any script, and so do our own digits.
        if not (mark.isalnum() and (category != "Lm" or mark in "ーｰ々〻")) or (mark.isascii() and mark.isdigit()):
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
