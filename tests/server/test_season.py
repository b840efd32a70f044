"""Long trials, run by `make hardship`: whole seasons of matches with players who come late or not at all."""

from __future__ import annotations

import random

import pytest
from house import House
from together import quick_pictures

from server import audit, deadlines, log
from server.models import Match, Outbox

MATCHES = 60


@pytest.mark.hardship
@pytest.mark.parametrize("seed", range(3))
def test_a_season_of_late_and_absent_players_ends_every_match(
    house: House, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    quick_pictures(monkeypatch)
    chance = random.Random(seed)
    names = list(house.people)
    for number in range(MATCHES):
        table = chance.sample(names, chance.randrange(2, 5))
        house.started(*table, game=("clans", "glory")[number % 2], pace=chance.choice((3600, 86400, 7 * 86400)))
    rounds = 0
    while Match.select().where(Match.status == "running").exists():
        rounds += 1
        assert rounds < 5000, "a match is stuck"
        house.later(hours=chance.choice((1, 5, 12)))
        for match in list(Match.select().where((Match.status == "running") & (Match.bot_acts == False))):  # noqa: E712
            seat = log.places(match)[match.awaited[0]]
            if chance.random() < {"Ailsa": 0.9, "Bran": 0.6, "Catrin": 0.2, "Dugald": 0.0}[seat.user.name]:
                house.move(match)
        deadlines.remind(house.now)
        deadlines.run(lambda: house.now)
        house.bots()
        house.mail()
    for number in audit.running_or_over():
        assert audit.verify(number) == []
    sent = Outbox.select().where((Outbox.kind == "turn") & (Outbox.state == "sent"))
    turns = [(mail.match_id, mail.seat, mail.asked, mail.user_id) for mail in sent]
    assert len(turns) == len(set(turns)), "a turn was told twice"
    assert Outbox.select().where(Outbox.kind == "end").count() >= 2 * MATCHES
