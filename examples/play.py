"""Play a match to its end by any legal move: `python play.py https://play.example.org TOKEN MATCH [SECONDS]`."""

import json
import random
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

if len(sys.argv) < 4:
    sys.exit(__doc__)
SITE, TOKEN, MATCH, *PAUSE = sys.argv[1:]


def ask(path: str, body: dict | None = None, tag: str = "") -> tuple[dict, str]:
    """Return what is answered, and the tag of it; {} if it is as it was, or if the match has moved on meanwhile."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "If-None-Match": tag}
    data = json.dumps(body).encode() if body else None
    try:
        with urlopen(Request(f"{SITE}/api/v1/matches/{MATCH}{path}", data, headers)) as answer:
            return json.load(answer), answer.headers["ETag"]
    except HTTPError as fault:
        if fault.code not in {304, 409, 429, 503}:
            sys.exit(fault.read().decode())
        time.sleep(int(fault.headers.get("Retry-After", 0)))
        return {}, tag


tag = ""
while True:
    match, tag = ask("", tag=tag)
    if match.get("status") not in {None, "running", "finished"}:
        sys.exit("This match has not begun.")
    if match.get("outcome"):
        print(match["sentence"])
        break
    if match.get("my_turn"):
        done, _ = ask("/moves", {"move": random.choice(match["view"]["moves"]), "expected": match["expected"]})
        print(done.get("text", "not now"))
    else:
        time.sleep(float(PAUSE[0]) if PAUSE else 30)
