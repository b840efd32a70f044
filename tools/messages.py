"""Bring the catalogues up to date with what the sources say: `make messages`.

New sentences come in untranslated, and what is said no longer goes; nothing is guessed. Translations are written into
`translations/<code>/LC_MESSAGES/messages.po`; `docs/languages.md` tells how, and a test fails while one is missing.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages import pofile
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir

from server import languages

ROOT: Final = languages.FOLDER.parent
SOURCES: Final = (
    ("engine/**.py", "python"),
    ("server/**.py", "python"),
    ("templates/**.html", "jinja2"),
    ("templates/**.txt", "jinja2"),
    ("server/static/**.js", "javascript"),
)
OPTIONS: Final = {"templates/**.*": {"extensions": "jinja2.ext.i18n", "trimmed": "true", "silent": "false"}}
# The functions whose arguments are sentences, and which of their arguments.
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "later": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "Phrase": None,
    "plural": (1, 2),
}
WIDTH: Final = 120


def said() -> Catalog:
    """Return every sentence that the sources say, untranslated, with the files that say it."""
    found = Catalog(charset="utf-8")
    for room in sorted({pattern.partition("/")[0] for pattern, _ in SOURCES}):
        patterns = [(pattern.partition("/")[2], method) for pattern, method in SOURCES if pattern.startswith(room)]
        options = {pattern: OPTIONS["templates/**.*"] for pattern, method in patterns if method == "jinja2"}
        for name, _line, message, comments, context in extract_from_dir(
            ROOT / room, patterns, options, KEYWORDS, comment_tags=("Translators:",), strip_comment_tags=True
        ):
            found.add(message, None, [(f"{room}/{name}", 1)], auto_comments=comments, context=context)
    return found


def fresh(code: str, template: Catalog) -> Catalog:
    """Return the catalogue of a language with the sentences of the template and what is translated of them."""
    known = languages.catalogue(code) if _file(code).exists() else Catalog(locale=code, fuzzy=False)
    known.update(template, no_fuzzy_matching=True, update_creation_date=False)
    known.obsolete.clear()
    return known


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as the file that is kept: in the order of the files, without dates that always change."""
    file = BytesIO()
    pofile.write_po(file, catalogue, width=WIDTH, sort_by_file=True, include_lineno=False, omit_header=False)
    kept = (line for line in file.getvalue().splitlines(keepends=True) if not line.startswith(_CHANGING))
    return b"".join(kept)


_CHANGING: Final = (b'"POT-Creation-Date', b'"PO-Revision-Date', b'"Generated-By', b'"Last-Translator')


def _file(code: str) -> Path:
    return languages.FOLDER / code / "LC_MESSAGES" / "messages.po"


def main() -> None:
    """Write the catalogue of each language anew and say what is missing."""
    template = said()
    for code in languages.LANGUAGES:
        if code == "en":
            continue
        catalogue = fresh(code, template)
        _file(code).parent.mkdir(parents=True, exist_ok=True)
        _file(code).write_bytes(written(catalogue))
        missing = sum(not all(message.string if message.pluralizable else [message.string]) for message in catalogue)
        print(f"{code}: {len(catalogue)} sentences, {missing} not translated")


if __name__ == "__main__":
    main()
