"""The queue of mails: each cause one mail, each mail once, and nobody waits for another's address."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from house import House, Pigeonhole
from smtp_sink import Sink
from together import in_parallel, quick_pictures

from server import accounts, audit, db, letters, lobby, outbox, settings
from server.channels import DeliveryError, Message, email
from server.models import Outbox, User

CUT = DeliveryError("the line was cut after the mail", unknown=True)
LATER = DeliveryError("450 try later")
NEVER = DeliveryError("550 5.1.1 unknown", permanent=True)
OURS = DeliveryError("535 wrong password", alarm=True)


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of a mail's time and is tested elsewhere."""
    quick_pictures(monkeypatch)


class Dying(Pigeonhole):
    """A channel in whose hands the process dies, with the mail out or not."""

    def __init__(self, *, out: bool) -> None:
        super().__init__()
        self.out = out

    def deliver(self, message: Message) -> None:
        """Die as by a signal: nothing of ours runs afterwards."""
        if self.out:
            self.messages.append(message)
        raise SystemExit(9)


def die(house: House, *, out: bool = True) -> list[Message]:
    """Let a worker die while it sends; return what left."""
    channel = Dying(out=out)
    with pytest.raises(SystemExit):
        outbox.deliver_due(channel, letters.writer(house.settings), lambda: house.now)
    return channel.messages


def letter(house: House, name: str = "Ailsa", kind: str = "known", key: str = "") -> Outbox:
    """Queue a mail that is about nothing that can change, and return it."""
    key = key or f"{kind} {name} {Outbox.select().count()}"
    with db.transaction():
        outbox.queue(kind, key=key, now=house.now, user=house.people[name])
    return Outbox.get(Outbox.key == key)


def again(mail: Outbox) -> Outbox:
    """Return the mail as it is stored now."""
    return Outbox.get_by_id(mail.id)


def test_one_cause_is_one_mail(house: House) -> None:
    first, second = letter(house, key="once"), letter(house, key="once")
    assert first.id == second.id
    match = house.started("Ailsa", "Bran")
    for _ in range(3):
        house.move(match)
        audit.rebuild(match.id, house.now)
    turns = [mail.key for mail in Outbox.select().where(Outbox.kind == "turn")]
    assert len(turns) == len(set(turns)) == 4


def test_a_second_worker_passes_over_what_the_first_has_in_hand(house: House) -> None:
    letter(house, "Ailsa")
    letter(house, "Bran")
    write, second = letters.writer(house.settings), Pigeonhole()

    class Slow(Pigeonhole):
        def deliver(self, message: Message) -> None:
            super().deliver(message)
            thread = threading.Thread(target=meanwhile)
            thread.start()
            thread.join()

    def meanwhile() -> None:
        with db.connected():
            outbox.deliver_due(second, write, lambda: house.now)

    first = Slow()
    assert outbox.deliver_due(first, write, lambda: house.now) == 1
    assert [message.to_name for message in first.messages] == ["Ailsa"]
    assert [message.to_name for message in second.messages] == ["Bran"]


def test_many_workers_send_each_mail_once(house: House) -> None:
    for number in range(30):
        letter(house, ("Ailsa", "Bran", "Catrin")[number % 3])
    write, channels = letters.writer(house.settings), [Pigeonhole() for _ in range(4)]

    def work(channel: Pigeonhole) -> None:
        with db.connected():
            outbox.deliver_due(channel, write, lambda: house.now)

    threads = [threading.Thread(target=work, args=[channel]) for channel in channels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [message.message_id for channel in channels for message in channel.messages]
    assert len(ids) == len(set(ids)) == 30
    assert {mail.state for mail in Outbox.select()} == {"sent"}


@pytest.mark.parametrize("out", [True, False])
def test_when_a_worker_dies_the_mail_is_sent_again_once_with_the_same_id(house: House, out: bool) -> None:
    mail = letter(house)
    before = die(house, out=out)
    assert house.mail() == []
    house.later(minutes=5)
    sent = house.mail()
    assert [message.message_id for message in before + sent] == [f"{mail.message_id}@localhost"] * (1 + out)
    house.later(days=3)
    assert house.mail() == []


def test_a_mail_in_which_workers_died_twice_is_given_up(house: House) -> None:
    mail = letter(house)
    die(house)
    house.later(minutes=5)
    die(house)
    house.later(minutes=5)
    assert house.mail() == []
    assert (again(mail).state, again(mail).note) == ("failed", "cut off twice while sending")


def test_a_refusal_before_does_not_count_as_a_death(house: House) -> None:
    mail = letter(house)
    house.post.faults = [LATER, LATER]
    house.mail()
    house.later(minutes=1)
    house.mail()
    house.later(minutes=5)
    die(house, out=False)
    house.later(minutes=5)
    assert len(house.mail()) == 1
    assert again(mail).state == "sent"


def test_an_unknown_outcome_leads_to_one_more_try_with_the_same_id(house: House) -> None:
    mail = letter(house)
    house.post.faults = [CUT, CUT]
    house.mail()
    house.later(minutes=1)
    house.mail()
    assert again(mail).state == "failed"
    other = letter(house)
    house.post.faults = [LATER, CUT]
    house.mail()
    house.later(minutes=1)
    house.mail()
    assert again(other).unsure
    house.later(minutes=5)
    assert [message.message_id for message in house.mail()] == [f"{other.message_id}@localhost"]


def test_after_an_unknown_outcome_a_refusal_does_not_open_the_way_for_a_third_copy(house: House) -> None:
    mail = letter(house)
    for fault in (CUT, LATER, CUT):
        house.post.faults = [fault]
        house.mail()
        house.later(hours=1)
    assert house.mail() == []
    assert again(mail).state == "failed"
    third = letter(house)
    house.post.faults = [CUT]
    house.mail()
    house.later(hours=1)
    die(house)
    house.later(hours=1)
    assert house.mail() == []
    assert again(third).state == "failed"


def test_a_mail_put_off_is_tried_after_ever_longer_waits_and_then_given_up(house: House) -> None:
    mail = letter(house)
    for wait in outbox.WAITS:
        house.post.faults = [LATER]
        house.mail()
        assert again(mail).due_at == house.now + wait
        assert "450" in again(mail).note
        house.now += wait - timedelta(seconds=1)
        assert house.mail() == []
        house.later(seconds=1)
    house.post.faults = [LATER]
    house.mail()
    assert again(mail).state == "failed"
    assert User.get_by_id(house.people["Ailsa"].id).mail_stopped == ""


def test_a_permanent_refusal_stops_that_address_only_until_its_owner_asks(house: House) -> None:
    bad, next_one, good = letter(house, "Ailsa"), letter(house, "Ailsa"), letter(house, "Bran")
    house.post.faults = [NEVER]
    assert [message.to_name for message in house.mail()] == ["Bran"]
    assert [again(mail).state for mail in (bad, next_one, good)] == ["failed", "dropped", "sent"]
    assert again(next_one).note == "the address takes no mail"
    ailsa = User.get_by_id(house.people["Ailsa"].id)
    assert "550" in ailsa.mail_stopped
    assert not ailsa.reachable
    accounts.try_mail_again(ailsa, house.now)
    letter(house, "Ailsa")
    assert len(house.mail()) == 1


def test_an_invitation_that_is_refused_stops_nobody(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    lobby.invite(match.id, house.people["Ailsa"], "eve@example.org", house.now)
    house.post.faults = [NEVER]
    assert house.mail() == []
    assert not User.select().where(User.mail_stopped != "").exists()


def test_a_fault_of_our_own_stops_the_run_and_nothing_is_tried_for_a_while(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    tries = [letter(house, name) for name in ("Ailsa", "Bran", "Catrin")]
    house.post.faults = [OURS] * 9
    for _ in range(4):
        assert house.mail() == []
        letter(house)
        house.later(minutes=3)
    assert len(house.post.faults) == 8, "one login for each pause, or the server shuts us out"
    assert [record.levelno for record in caplog.records if record.name == "server.outbox"] == [logging.CRITICAL]
    house.post.faults = []
    house.later(minutes=3)
    assert len(house.mail()) == 7
    assert {again(mail).state for mail in tries} == {"sent"}
    assert again(tries[0]).attempts == 1


def test_a_mail_that_cannot_be_written_does_not_stop_the_others(house: House) -> None:
    letter(house, "Ailsa", kind="nonsense")
    good = letter(house, "Bran")
    assert [message.to_name for message in house.mail()] == ["Bran"]
    bad = Outbox.get(Outbox.kind == "nonsense")
    assert (bad.state, bad.due_at) == ("queued", house.now + outbox.WAITS[0])
    assert bad.note == "cannot be written: KeyError"
    assert again(good).state == "sent"


def test_a_mail_in_hand_while_its_owner_leaves_is_not_put_off(house: House) -> None:
    mail = letter(house)

    class Leaving(Pigeonhole):
        def deliver(self, message: Message) -> None:
            accounts.forget(house.people["Ailsa"], house.now)
            raise LATER

    outbox.deliver_due(Leaving(), letters.writer(house.settings), lambda: house.now)
    assert (again(mail).state, again(mail).note) == ("dropped", "the account was deleted")


def test_a_restart_with_a_full_queue_sends_nothing_twice(house: House, database: str) -> None:
    for number in range(12):
        letter(house, ("Ailsa", "Bran", "Catrin")[number % 3])
    write = letters.writer(house.settings)
    outbox.deliver_due(house.post, write, lambda: house.now, limit=5)
    db.database.close()
    db.use(database)
    db.database.connect()
    assert len(house.mail()) == 7
    ids = [message.message_id for message in house.post.messages]
    assert len(ids) == len(set(ids)) == 12
    assert house.mail() == []


def on(sink: Sink) -> email.SmtpChannel:
    """Return a channel to the sink."""
    return email.SmtpChannel(
        email.SmtpSettings(sink.host, sink.port, email.Tls.NONE),
        email.Sender("Clachan", "clachan@localhost", "localhost"),
    )


@pytest.mark.parametrize("reply", ["451 4.3.0 later", "550 5.1.1 unknown", "421 4.3.2 leaving", "(drop)"])
def test_one_failing_address_never_holds_up_the_others(cottage: House, reply: str) -> None:
    for name in ("Ailsa", "Bran", "Catrin"):
        letter(cottage, name)
    with Sink() as sink:
        sink.answer("RCPT bran@example.org", reply)
        channel = on(sink)
        assert outbox.deliver_due(channel, letters.writer(cottage.settings), lambda: cottage.now) == 2
        channel.close()
        assert {mail.recipients for mail in sink.mails} == {("ailsa@example.org",), ("catrin@example.org",)}


def test_a_move_succeeds_with_the_mail_server_down_and_the_mail_waits(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    with Sink() as sink:
        channel = on(sink)
    cottage.move(match)
    assert outbox.deliver_due(channel, letters.writer(cottage.settings), lambda: cottage.now) == 0
    assert cottage.queued(kind="turn")
    assert outbox.oldest_due(cottage.later(minutes=10)) == timedelta(minutes=9)
    cottage.mail()
    assert outbox.oldest_due(cottage.now) == timedelta(0)


def test_a_mail_server_down_for_six_hours_loses_nothing_and_floods_nobody(house: House) -> None:
    for number in range(5):
        house.started("Ailsa", "Bran")
        if not number:
            house.started("Catrin", "Dugald")
    house.post.faults = [DeliveryError("no connection to the mail server")] * 10_000
    for _ in range(6 * 12):
        house.later(minutes=5)
        assert house.mail() == []
    house.post.faults = []
    sent = []
    for _ in range(6 * 12):
        house.later(minutes=5)
        sent += house.mail()
    assert sorted((mail.to_name, mail.subject) for mail in sent) == [
        ("Ailsa", "Your matches"),
        ("Bran", "Your matches"),
        ("Catrin", "Clans 2: Catrin and Dugald"),
        ("Dugald", "Clans 2: Catrin and Dugald"),
    ]
    assert not Outbox.select().where(Outbox.done_at.is_null()).exists()


@pytest.mark.parametrize(
    ("mail", "development", "kind"),
    [("smtp://u:p@mail.example.org", "1", email.SmtpChannel), ("", "1", email.LocalMailbox), ("", "0", type(None))],
)
def test_the_way_out_is_the_one_that_the_settings_name(tmp_path, mail: str, development: str, kind: Callable) -> None:
    names = {"DATA": str(tmp_path), "SMTP_URL": mail, "DEVELOPMENT": development, "SECRET_KEY": "s" * 40}
    chosen = settings.load({f"CLACHAN_{name}": value for name, value in names.items() if value})
    assert isinstance(outbox.open_channel(chosen), kind)


def test_a_mailbox_made_by_many_at_once_takes_every_mail(tmp_path: Path, cottage: House) -> None:
    sender = email.Sender("Clachan", "clachan@localhost", "localhost")
    for number in range(20):
        path = tmp_path / f"mailbox{number}" / "deeper"
        mails = [Message("Ailsa", "ailsa@example.org", "A", "A", "", f"{n}@localhost", cottage.now) for n in range(6)]
        works = [lambda mail=mail, path=path: email.LocalMailbox(path, sender).deliver(mail) for mail in mails]
        assert in_parallel(*works) == [None] * 6
        assert len(email.LocalMailbox(path).messages()) == 6
