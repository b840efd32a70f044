"""A card laid face down: what the services tell of it, to whom, and that no hash gives it away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from house import House

from engine import games, record
from engine.games.glory.cards import CARD
from engine.replay import Row
from server import audit, db, lobby, log, story
from server.errors import Refused
from server.models import LogRow, Match

FOUND = json.loads((Path(__file__).parent.parent / "records" / "glory-face-down.json").read_text(encoding="utf-8"))
DOWN = next(place for place, row in enumerate(FOUND["log"]) if "down" in row["text"])


@pytest.fixture
def match(cottage: House, monkeypatch: pytest.MonkeyPatch) -> Match:
    """A match of Ailsa and Bran in which a card has just been laid face down."""
    monkeypatch.setattr(type(games.game("glory")), "deal", lambda *_: FOUND["setup"])
    terms = lobby.Terms("glory", 2, {"move": 86400}, {}, seating="join")
    opened = lobby.open_table(cottage.people["Ailsa"], terms, cottage.now)
    lobby.join(opened.id, cottage.people["Bran"], now=cottage.now)
    for row in FOUND["log"][: DOWN + 1]:
        cottage.later(minutes=5)
        cottage.move(opened, row["text"])
    return log.get(opened.id)


def told(house: House, match: Match, viewer: int | None) -> Any:
    return story.lines(house.played(match), ["Ailsa", "Bran"], viewer)[DOWN]


def test_only_the_mover_reads_which_card_it_was(cottage: House, match: Match) -> None:
    row = FOUND["log"][DOWN]
    card, spot, *_ = row["text"].split()
    assert told(cottage, match, row["seat"]).text == row["text"]
    assert card in told(cottage, match, row["seat"]).sentences[0]
    for viewer in (None, 1 - row["seat"]):
        line = told(cottage, match, viewer)
        assert line.text == row["text"].replace(card, "?", 1)
        assert card not in " ".join(line.sentences)
        assert line.touched[0] == spot


def test_the_move_is_read_back_whole_to_the_mover(cottage: House, match: Match) -> None:
    later = [row["text"] for row in FOUND["log"][DOWN + 1 :]]
    done = [cottage.move(match, text).text for text in later]
    assert done == later


def test_at_the_end_everybody_reads_all_of_it(cottage: House, match: Match) -> None:
    for row in FOUND["log"][DOWN + 1 :]:
        cottage.move(match, row["text"])
    assert [line.text for line in story.lines(cottage.played(match), ["Ailsa", "Bran"], None)] == [
        row["text"] for row in FOUND["log"]
    ]


def test_the_hash_shown_does_not_let_anybody_try_out_the_cards(cottage: House, match: Match) -> None:
    played = cottage.played(match)
    row = played.rows[DOWN]
    previous = LogRow.get((LogRow.match == match) & (LogRow.seq == DOWN))
    rest = row.text.partition(" ")[2]
    guesses = {record.row_hash(bytes(previous.hash).hex(), row._replace(text=f"{card} {rest}")) for card in CARD}
    assert played.last_hash in guesses
    assert story.shown_hash(played) not in guesses
    assert story.shown_hash(played) == record.seal(played.last_hash, bytes(match.secret).hex())


def test_at_the_end_the_hash_itself_is_shown(cottage: House, match: Match) -> None:
    for row in FOUND["log"][DOWN + 1 :]:
        cottage.move(match, row["text"])
    played = cottage.played(match)
    assert story.shown_hash(played) == played.last_hash


def test_a_frozen_match_tells_the_keeper_why_and_nobody_else(cottage: House, match: Match) -> None:
    row: Row = cottage.played(match).rows[DOWN]
    with db.transaction():
        db.database.execute_sql("DROP TRIGGER log_never_changes")
        LogRow.update(text=row.text.replace("down", "dwon")).where(
            (LogRow.match == match) & (LogRow.seq == DOWN + 1)
        ).execute()
    with pytest.raises(Refused) as refused:
        log.read(match)
    card = row.text.partition(" ")[0]
    assert refused.value.sentence.endswith(f"step {DOWN + 1} does not fit.")
    assert card not in refused.value.sentence
    assert card in audit.verify(match.id)[0]
