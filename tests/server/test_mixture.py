"""Everything that can happen to a match, in any order: after each row what is remembered is what the log says."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from clockwork import DAY, HOUR, tick, with_rounds
from house import House
from together import quick_pictures

from engine import replay
from server import ahead, audit, events, home, log, play, preferences, seating, story, talk, vacations, votes
from server.errors import Refused
from server.log import Played
from server.models import Match, User
from server.preferences import Wishes

CLOCKS = (
    {"move": 6 * HOUR, "nights": True, "weekend": True},
    {"move": 5 * HOUR, "missing": "vote", "bank": DAY, "increment": HOUR},
    {"bank": 2 * DAY, "missing": "at-once"},
    {"move": HOUR, "daily": "18:00 Europe/Prague", "misses": 1},
    {},
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


class Hand:
    """Somebody or something that does whatever comes to mind with a match."""

    def __init__(self, house: House, match: Match, chance: random.Random) -> None:
        self.house, self.match, self.chance = house, match, chance

    @property
    def doings(self) -> tuple[Callable[[Played, User], object], ...]:
        """What may happen, moving and passing time more often than the rest."""
        rare = (self.resign, self.take_back, self.nudge, self.come_back, self.offer, self.take, self.prepare)
        return (*(self.move,) * 8, *(self.wait,) * 6, self.vote, self.away, self.home, self.zone, self.talk, *rare)

    def any(self) -> None:
        """Do something, or be refused."""
        played = self.house.played(self.match)
        try:
            self.chance.choice(self.doings)(played, self.chance.choice(list(self.house.people.values())))
        except Refused:
            assert self.house.played(self.match).rows == played.rows, "a refusal changes nothing"

    def wait(self, _played: Played, _user: User) -> None:
        self.house.later(minutes=self.chance.choice((1, 9, 50, 400, 2000)))
        tick(self.house)

    def move(self, played: Played, _user: User) -> None:
        seat = self.chance.choice(played.position.to_act)
        if not log.places(self.match)[seat].user.bot:
            self.submit(played, seat)

    def submit(self, played: Played, seat: int) -> None:
        text = self.chance.choice(played.view(seat).moves)
        asked, by = played.position.asked[seat] or 0, log.places(self.match)[seat].user
        play.submit(self.match.id, seat, text, asked, by, "web", now=self.house.now)

    def take_back(self, _played: Played, user: User) -> None:
        play.take_back(self.match.id, user, "web", now=self.house.now)

    def nudge(self, _played: Played, user: User) -> None:
        play.nudge(self.match.id, user, "web", now=self.house.now)

    def resign(self, _played: Played, user: User) -> None:
        if self.chance.random() < 0.1:
            seating.resign(self.match.id, user, "web", now=self.house.now)

    def come_back(self, _played: Played, user: User) -> None:
        seating.come_back(self.match.id, user, "web", now=self.house.now)

    def offer(self, _played: Played, user: User) -> None:
        seating.offer(self.match.id, self.chance.randrange(3), user, "web", now=self.house.now)

    def take(self, _played: Played, user: User) -> None:
        seating.take(self.match.id, self.chance.randrange(3), user, "web", now=self.house.now)

    def prepare(self, played: Played, user: User) -> None:
        seat = played.position.to_act[0]
        text = self.chance.choice(played.view(seat).moves)
        ahead.prepare(self.match.id, user, text, now=self.house.now)

    def vote(self, played: Played, _user: User) -> None:
        seat = self.chance.randrange(3)
        pause = votes.pause_topic(self.house.now + timedelta(hours=self.chance.randrange(1, 60)))
        topics = [pause, pause, "resume", "resume", f"wait {seat}", f"replace {seat}", "", "end"]
        topic = self.chance.choice(topics if self.chance.random() < 0.2 else topics[:-1])
        for user in self.chance.sample(list(self.house.people.values()), self.chance.randrange(1, 5)):
            if log.own_number(self.match, user) is not None:
                votes.vote(self.match.id, user, topic, "web", now=self.house.now)

    def away(self, _played: Played, user: User) -> None:
        start = self.house.now + timedelta(hours=self.chance.randrange(-5, 30))
        vacations.announce(
            user, start, start + timedelta(hours=self.chance.randrange(6, 90)), "web", now=self.house.now
        )

    def home(self, _played: Played, user: User) -> None:
        vacations.end(user, "web", now=self.house.now)

    def zone(self, _played: Played, user: User) -> None:
        zone = self.chance.choice(("Pacific/Apia", "America/St_Johns", "Europe/Prague"))
        nights = self.chance.choice(("", "22:00-07:00"))
        forced = self.chance.random() < 0.5
        preferences.settle(User.get_by_id(user.id), Wishes(zone, nights=nights, forced=forced), self.house.now)

    def talk(self, _played: Played, user: User) -> None:
        talk.say(self.match.id, user, "Good morning!", expected=0, via="web", now=self.house.now)


def agrees(house: House, match: Match, used: dict[tuple[int, datetime], timedelta]) -> None:
    """Compare all that is remembered or shown of a match with its log."""
    assert audit.verify(match.id) == []
    played, places = house.played(match), log.places(match)
    head = played.head
    again = replay.replay(played.game, head["setup"], head["seats"], head["options"], played.rows)
    assert again.state == played.position.state
    called = story.names(places)
    for seat, place in enumerate(places):
        acts = seat in played.position.to_act
        assert (seat in played.match.awaited) == acts
        assert (story.standing(played, called, seat) == "It is your turn.") == acts
        if not place.user.bot and not played.outcome:
            assert {item.match.id: item.my_turn for item in home.items(place.user, house.now)}[match.id] == acts
        used[seat, house.now] = played.clocks.used(seat, house.now)
    assert all(events.sentence(played, row, called) for row in played.rows if row.kind != "move")
    for (seat, at), spent in used.items():
        assert played.clocks.used(seat, at) == spent, "what was used stays used"


@pytest.mark.parametrize("number", range(len(CLOCKS)))
def test_whatever_happens_what_is_remembered_is_what_the_log_says(cottage: House, number: int) -> None:
    chance = random.Random(number)
    kind = ("rounds", "glory", "clans")[number % 3]
    match = cottage.started("Ailsa", "Bran", "Catrin", game=kind, clock=CLOCKS[number])
    hand, used, length = Hand(cottage, match, chance), {}, 0
    for _ in range(100):
        hand.any()
        now = log.get(match.id)
        if now.length > length:
            agrees(cottage, match, used)
        if now.status != "running":
            break
        length = now.length
    assert length > 10
