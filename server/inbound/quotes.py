"""What single lines of an answer look like: quoted, a heading of a quotation, a rule, the end of the player's words.

No language is known here, but how our own mails begin in each. What is looked for is what every mail program writes in
every language: an address, a name, a date, a colon, a row of dashes.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from engine.language import later
from server import languages

# Everything a person writes stands above this line of a mail of ours.
MARKER: Final = "##- Please type your reply above this line -##"
# A heading is a sentence; what is longer is prose.
LONGEST_HEADING: Final = 600
LONGEST_LABEL: Final = 32
DEEPEST: Final = 4

_MARKER_WORDS: Final = "".join(MARKER.strip("#- ").casefold().split())
_MARKS: Final = ">|＞│┃"
# Some programs put the initials of who is quoted before the sign.
_INITIALS: Final = re.compile(r"[^\W\d_]{1,4}>")
_OURS: Final = re.compile(r"\b(?:move|bounce)[+.][a-z0-9-]{8,}", re.IGNORECASE)
_MAIL: Final = re.compile(r"[^\s@<>()\[\]]@[^\s@<>()\[\]]")
_DAY: Final = re.compile(
    r"(?<!\d)\d{4}(?!\d)|(?<!\d)\d{1,2} ?[./-] ?\d{1,2} ?[./-]|\d{1,2} ?[月월]|(?<![\w.:-])\d{1,2}\.? [^\W\d_]{3}"
)
_HOUR: Final = re.compile(r"(?<!\d)\d{1,2} ?(?:[:.時时點点시h]|h ) ?\d{2}(?!\d)")
_OPENING: Final = re.compile(r"[^\W\d_][\w '’&-]{0,40} \d{1,9}[,:](.{0,160})")
_OPENS: Final = later("%(match)s: it is your turn, %(name)s.")
_FIELD: Final = re.compile(r"%\(\w+\)s")
_RULE_SIGNS: Final = "-_=*~—–─━ \t"
_SAYS: Final = re.compile(r"[-*•–/ ]*say(?!\w)", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[^\W\d_]")
_LABEL_MARKS: Final = "*_ "
_COLONS: Final = (":", "：", ":*", "﹕", "︰")
_SIGNATURES: Final = frozenset({"--", "—", "–"})
_OPEN_BRACKETS: Final = ("<", "(", "[", "（", "＜")


class Line(NamedTuple):
    """A line that is not empty: how deep it is quoted, whether an empty one stands before it, and its words."""

    depth: int
    gap: bool
    text: str


class Signs(NamedTuple):
    """What a sentence mentions that the heading of a quotation would: who wrote, when, and that it follows."""

    ours: bool
    named: bool
    mail: bool
    day: bool
    hour: bool
    colon: bool

    @property
    def when(self) -> bool:
        """Whether it mentions a day or an hour."""
        return self.day or self.hour

    @property
    def announces(self) -> bool:
        """Whether it mentions enough to be a heading, if a quotation follows at once."""
        who = self.ours or self.named or self.mail
        return (self.colon and (who or self.when)) or (who and self.day and self.hour)

    def then(self, after: Signs) -> Signs:
        """Return what this and the lines after it mention together."""
        return Signs(
            self.ours or after.ours,
            self.named or after.named,
            self.mail or after.mail,
            self.day or after.day,
            self.hour or after.hour,
            after.colon,
        )


# Of what cannot be part of such a sentence, as opposed to a part that happens to mention nothing.
NOTHING: Final = Signs(*[False] * 6)


def quoted(line: str) -> tuple[int, str]:
    """Return how deep a line is quoted and its words."""
    words = line.lstrip(f"{_MARKS} \t")
    depth = 0 if words == line else sum(map(line[: len(line) - len(words)].count, _MARKS))
    if not depth and ">" in words[:5] and (initials := _INITIALS.match(words)):
        depth, words = 1, words[initials.end() :].lstrip()
    return min(depth, DEEPEST), words.strip()


def is_marker(text: str) -> bool:
    """Whether this is the line of ours above which answers stand."""
    return "#" in text and _MARKER_WORDS in "".join(text.casefold().split())


def harmless(text: str) -> str:
    """Return somebody's words so that their receiver never takes them for that line."""
    return text.replace("#", "") if is_marker(text) else text


def is_signature(text: str) -> bool:
    """Whether this ends what a person writes."""
    return text in _SIGNATURES


def is_rule(text: str) -> bool:
    """Whether this is a row of dashes or the like with nothing else on it."""
    return len(text) >= 3 and not text.strip(_RULE_SIGNS)


def is_title(text: str) -> bool:
    """Whether this is some words between two rows of dashes or the like."""
    words = text.strip(_RULE_SIGNS)
    left = len(text) - len(text.lstrip(_RULE_SIGNS))
    return bool(words) and min(left, len(text) - len(words) - left) >= 3


def is_opening(text: str) -> bool:
    """Whether this is how a mail of ours begins."""
    opening = _OPENING.match(text.casefold())
    return opening is not None and any(words in opening[1] for words in _turn_words()) and not says(text)


@cache
def _turn_words() -> tuple[str, ...]:
    """Return the words in which a mail of ours says, in each language, whose turn it is."""
    told = (languages.translations(code).gettext(_OPENS) for code in languages.LANGUAGES)
    found = (max(_FIELD.split(sentence), key=len).strip(" ,:.!").casefold() for sentence in told)
    return ("your turn", *(words for words in found if words))


def is_header(text: str) -> bool:
    """Whether this looks like `Name: value`, in whatever language, also with the name in bold."""
    plain = text[: 2 * LONGEST_LABEL].lstrip(_LABEL_MARKS).replace("：", ":", 1)
    label, colon, value = plain.partition(":")
    label = label.rstrip(_LABEL_MARKS)
    if not colon or not 0 < len(label) <= LONGEST_LABEL or value.startswith("//"):
        return False
    spoken = not any(sign.isdigit() or sign in '<>@,;!?"()[]' for sign in label)
    return spoken and len(label.split()) <= 4 and bool(_LETTERS.search(label)) and not says(text)


def says(text: str) -> bool:
    """Whether this is table talk, which may say anything."""
    return bool(_SAYS.match(text))


def signs(text: str, names: tuple[str, ...]) -> Signs:
    """Return what the text mentions; `names` are ours in `casefold` form; prose that is too long has `NOTHING`."""
    if len(text) > LONGEST_HEADING:
        return NOTHING
    folded = text.casefold()
    return Signs(
        ours=bool(_OURS.search(text)),
        named=any(name in folded for name in names),
        mail=bool(_MAIL.search(text)),
        day=bool(_DAY.search(text)),
        hour=bool(_HOUR.search(text)),
        colon=text.endswith(_COLONS),
    )


def breaks_off(text: str) -> bool:
    """Whether a line ends where only a program would break it."""
    return text.endswith(_OPEN_BRACKETS)


def in_brackets(text: str) -> bool:
    """Whether a line begins with an address in brackets, so that a name stands before it."""
    return text.startswith(_OPEN_BRACKETS) and bool(_MAIL.search(text[:LONGEST_HEADING]))


def wrapped(lines: list[str]) -> bool:
    """Whether a program that fills its lines could have broken one text into these."""
    widest = max(len(line) for line in lines if " " in line or line is lines[0])
    return all(len(line) + 1 + len(after.split(" ", 1)[0]) > widest for line, after in pairwise(lines))
