"""Write the document of the API anew: `make document`. It follows from the code; a test compares."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from server.api.app import written

FILE: Final = Path(__file__).parent.parent / "docs" / "openapi.json"

if __name__ == "__main__":
    FILE.write_bytes(written())
