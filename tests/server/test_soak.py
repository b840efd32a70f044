"""Very many matches, played by page and by mail with a clock that runs fast: no match stays behind, and no memory."""

from __future__ import annotations

import gc
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from clockwork import tick
from house import House
from postman import answer
from together import quick_pictures
from visitor import Visitor, application

from engine import games
from server import audit, db, lobby, log, throttle
from server.channels import Message
from server.models import Inbound, LogRow, Match

MEGABYTE = 2**20


def memory() -> int:
    """Return how many bytes of memory this process holds."""
    gc.collect()
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


@dataclass
class Village:
    """People, half of them by page and half by mail, who play each other and bots."""

    house: House
    app: Any
    chance: random.Random
    browsers: dict[str, Visitor] = field(default_factory=dict)
    letters: dict[tuple[int, str], Message] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)

    def begin(self) -> Match:
        """Begin a match of one or two people, with a bot beside them."""
        names = self.chance.sample(sorted(self.house.people), self.chance.choice((1, 2)))
        game = self.chance.choice(sorted(games.games()))
        table = self.house.table(*names, seats=len(names) + 1, game=game, pace=86400)
        lobby.fill(table.id, self.house.people[names[0]], "easy", self.house.now)
        self.done["begun"] += 1
        return log.get(table.id)

    def post(self) -> None:
        """Let the mails of a while go out, and remember the turn that each person was told of last."""
        for mail in self.house.mail():
            self.done["mails"] += 1
            if mail.reply_to and (found := re.search(r"/matches/(\d+)", mail.text)):
                self.letters[int(found[1]), mail.to_name] = mail
        self.house.post.messages.clear()

    def act(self, match: Match) -> None:
        """Let whoever is awaited do something: move by page or by mail, or now and then nothing at all."""
        played = self.house.played(match)
        if played.outcome or self.chance.random() < 0.02:
            return
        seat = played.position.to_act[0]
        user = log.places(match)[seat].user
        if user.bot:
            return
        text = self.chance.choice(played.view(seat).moves)
        mail = self.letters.get((match.id, user.name))
        if user.id % 2 and mail is not None:
            verdict = answer(self.house, mail, text)
            self.done[f"mail {verdict}"] += 1
            return
        form = {"move": text, "expected": str(played.position.asked[seat]), "key": f"{match.id} {match.length}"}
        told = self.browsers[user.name].post(f"/matches/{match.id}/moves", json=True, **form)
        self.done[f"page {told.status_code}"] += 1


def live(village: Village, matches: int, together: int) -> Iterator[int]:
    """Play so many matches, some at a time, a quarter of an hour a round; yield how many are over, round by round."""
    running = [village.begin() for _ in range(min(together, matches))]
    over = 0
    while running:
        village.house.later(minutes=15)
        tick(village.house)
        village.post()
        for match in running:
            village.act(match)
        still = [log.get(match.id) for match in running]
        running = [match for match in still if match.status == "running"]
        over += len(still) - len(running)
        while len(running) < together and village.done["begun"] < matches:
            running.append(village.begin())
        yield over


@pytest.mark.parametrize(("matches", "together"), [(2, 2), pytest.param(1000, 40, marks=pytest.mark.hardship)])
def test_r20_of_very_many_matches_by_page_and_mail_none_stays_behind_and_memory_is_flat(
    cottage: House,
    monkeypatch: pytest.MonkeyPatch,
    did: Callable[[object], None],
    matches: int,
    together: int,
) -> None:
    quick_pictures(monkeypatch)
    monkeypatch.setattr(throttle, "count", lambda *_: None)
    db.database.execute_sql("PRAGMA synchronous = off")
    village = Village(cottage, application(cottage, monkeypatch), random.Random(20))
    village.browsers = {name: Visitor(village.app, user) for name, user in cottage.people.items()}
    held: list[int] = []
    for rounds, over in enumerate(live(village, matches, together)):
        assert rounds < 400 * matches / together + 1000, "a match is stuck"
        if rounds % 100 == 0 and over > matches // 4:
            held.append(memory())
    assert Match.select().where(Match.status != "finished").count() == 0
    for match in Match.select():
        assert audit.verify(match.id) == []
    assert Inbound.select().where(Inbound.done_at.is_null()).count() == 0
    assert not {word for word in village.done if word.startswith(("mail ", "page "))} - {"mail done", "page 200"}
    assert village.done["mail done"] > matches
    assert village.done["page 200"] > matches
    if len(held) > 4:
        # What the first matches of the second quarter held is all that thousands more may hold, but for some slack.
        assert max(held[2:]) - held[0] < 40 * MEGABYTE, [size // MEGABYTE for size in held]
    did(
        f"{matches} matches, {LogRow.select().count()} rows, {dict(village.done)},"
        f" memory {[size // MEGABYTE for size in held[:1] + held[-1:]]} MB"
    )
