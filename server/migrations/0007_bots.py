"""The bot that plays on in seats that people have left is steady."""

from __future__ import annotations

from typing import Any


def up(_migrator: Any, db: Any) -> None:
    """Change its strength."""
    db.execute_sql("""UPDATE "user" SET bot = 'steady' WHERE name_key = '*bot'""")
