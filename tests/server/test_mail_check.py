"""The self-check of mail, against real servers on the loopback and a DNS that says what the test wants."""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import dovecot
import pytest
from house import house_settings
from smtp_sink import CERTIFICATE_AND_KEY, Sink, client_context

from server.feeders import check
from server.feeders.check import OK, PROBLEM, UNKNOWN
from server.feeders.smtp import Listener
from server.settings import Settings, Smtp, WayIn

DOMAIN = "play.example.org"
PASSWORD = "correct-horse-9"
GOOD = {
    (DOMAIN, "MX"): ["20 b.example.org.", "10 a.example.org."],
    (DOMAIN, "TXT"): ['"unrelated"', '"v=spf1 mx " "-all"'],
    ("_dmarc.play.example.org", "TXT"): ['"v=DMARC1; p=reject"'],
    ("s1._domainkey.play.example.org", "TXT"): ['"v=DKIM1; k=rsa; p=' + "A" * 200 + '" "BBBB"'],
}


class Names(socketserver.UDPServer):
    """A DNS server: `records` are texts by name and kind, `silent` names are not answered; others do not exist."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Question)
        self.records = dict(GOOD)
        self.silent: set[str] = set()

    def resolver(self) -> dns.resolver.Resolver:
        """Return a resolver that asks this server."""
        made = dns.resolver.Resolver(configure=False)
        made.nameservers, made.port = ["127.0.0.1"], self.server_address[1]
        return made


class _Question(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Names)
        packet, answers = self.request
        asked = dns.message.from_wire(packet)
        question = asked.question[0]
        name, kind = question.name.to_text(omit_final_dot=True), dns.rdatatype.to_text(question.rdtype)
        reply = dns.message.make_response(asked)
        reply.flags |= dns.flags.RA
        if name in self.server.silent:
            reply.set_rcode(dns.rcode.SERVFAIL)
        elif found := self.server.records.get((name, kind)):
            reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *found))
        elif not any(known == name for known, _ in self.server.records):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        answers.sendto(reply.to_wire(), self.client_address)


@pytest.fixture
def names() -> Iterator[Names]:
    with Names() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return house_settings(
        f"sqlite:///{tmp_path}/clachan.db",
        tmp_path,
        MAIL_FROM=f"clachan@{DOMAIN}",
        PUBLIC_URL=f"https://{DOMAIN}",
        MAIL_IN="pipe",
    )


Ask = Callable[..., list[check.Finding]]


@pytest.fixture
def ask(names: Names, settings: Settings) -> Ask:
    """Check with the settings changed as told."""

    def run(selector: str = "", **changes: object) -> list[check.Finding]:
        found = check.check(replace(settings, **changes), names.resolver(), selector)
        for finding in found:
            assert finding.verdict in {OK, PROBLEM, UNKNOWN}
            assert PASSWORD not in finding.sentence
            assert finding.sentence.isprintable()
            assert str(finding) == f"{finding.verdict}: {finding.sentence}"
        return found

    return run


def one(found: list[check.Finding], *words: str) -> check.Finding:
    """Return the only finding with these words."""
    fitting = [finding for finding in found if all(word in finding.sentence for word in words)]
    assert len(fitting) == 1, found
    return fitting[0]


def test_a_house_in_order_has_no_problem(ask: Ask) -> None:
    with Sink(user="clachan", password=PASSWORD) as sink:
        found = ask("s1", smtp=Smtp("127.0.0.1", sink.port, "none", "clachan", PASSWORD))
        assert sink.mails == []
        assert "AUTH" in {command.split()[0] for command in sink.commands}
    assert [str(finding) for finding in found] == [
        "ok: Mails come from play.example.org and lead to play.example.org, which belong together.",
        f"ok: The mail server 127.0.0.1:{sink.port} lets us in as clachan, unprotected. "
        "It said: 235 2.7.0 Authentication successful",
        "cannot tell: Answers come by the command `clachan mail receive`, which your mail server has to call: answer a "
        "mail of ours to see whether it does.",
        "ok: Mail to play.example.org goes to a.example.org, b.example.org, which has to hand it to us.",
        "ok: SPF of play.example.org: v=spf1 mx -all",
        "ok: DMARC of play.example.org: v=DMARC1; p=reject",
        "ok: A key for signatures (DKIM) is published at s1._domainkey.play.example.org.",
    ]


@pytest.mark.parametrize(
    ("mail_from", "site", "verdict"),
    [
        ("play.example.org", "https://play.example.org", OK),
        ("example.org", "https://play.example.org/games", OK),
        ("mail.play.example.org", "https://PLAY.example.org:8443", OK),
        ("example.net", "https://play.example.org", UNKNOWN),
        ("notexample.org", "https://example.org", UNKNOWN),
        ("localhost", "https://play.example.org", PROBLEM),
        ("127.0.0.1", "https://play.example.org", PROBLEM),
        ("play.example.org", "http://127.0.0.1:8000", PROBLEM),
        ("play.example.org", "http://[::1]:8000", PROBLEM),
        ("play.example.org", "http://pc", PROBLEM),
    ],
)
def test_the_address_and_the_site_must_be_for_the_world_and_fit(
    mail_from: str, site: str, verdict: str, ask: Ask
) -> None:
    found = ask(mail_from=f"clachan@{mail_from}", public_url=site)
    assert found[0].verdict == verdict
    assert verdict != PROBLEM or "CLACHAN_" in found[0].sentence
    assert ("SPF" in "".join(map(str, found))) == (mail_from not in {"localhost", "127.0.0.1"})


def test_without_a_mail_server_it_says_where_mails_go(ask: Ask) -> None:
    assert one(ask(), "Mails wait in the outbox", "CLACHAN_SMTP_URL").verdict == PROBLEM
    assert one(ask(development=True), "/mailbox").verdict == OK


def test_a_mail_server_that_refuses_us_is_quoted_without_the_password(ask: Ask) -> None:
    with Sink(user="clachan", password="another") as sink:
        smtp = Smtp("127.0.0.1", sink.port, "none", "clachan", PASSWORD)
        finding = one(ask(smtp=smtp), "refuses our user or password")
        assert finding.verdict == PROBLEM
        assert "535 5.7.8" in finding.sentence
        sink.answer("AUTH", f"535 no, {PASSWORD} is wrong")
        assert one(ask(smtp=smtp), "refuses our user or password").sentence.endswith("It said: 535")
        sink.answer("AUTH", "535 AGNsYWNoYW4AY29ycmVjdC1ob3JzZS05 Y29ycmVjdC1ob3JzZS05")
        assert one(ask(smtp=smtp), "refuses our user or password").sentence.endswith("It said: 535")
        sink.answer("CONNECT", "554 go\taway\x07")
        assert one(ask(smtp=smtp), "will not talk to us", "554 go away").verdict == PROBLEM


def test_a_mail_server_that_cannot_be_reached_or_trusted_is_a_problem(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    gone = Smtp("127.0.0.1", port, "none", "", "")
    assert one(ask(smtp=gone), "cannot be used", "Connection refused").verdict == PROBLEM
    assert one(ask(smtp=replace(gone, host="nowhere.invalid")), "nowhere.invalid", "cannot be used").verdict == PROBLEM
    with Sink() as sink:
        plain = Smtp("127.0.0.1", sink.port, "starttls", "", "")
        assert one(ask(smtp=plain), "with STARTTLS", "not supported").verdict == PROBLEM
        assert one(ask(smtp=replace(plain, tls="implicit")), "over TLS").verdict == PROBLEM
        assert one(ask(smtp=replace(plain, tls="none")), "lets us in, unprotected").verdict == OK
        monkeypatch.setattr(check, "REPLY", 0.3)
        sink.answer("EHLO", "(hang)")
        assert one(ask(smtp=replace(plain, tls="none")), "timed out").verdict == PROBLEM
    with Sink(tls="implicit") as sink:
        smtp = Smtp("127.0.0.1", sink.port, "implicit", "", "")
        assert one(ask(smtp=smtp), "certificate is not trusted: self-signed").verdict == PROBLEM
        monkeypatch.setattr(ssl, "create_default_context", client_context)
        assert one(ask(smtp=smtp), "lets us in, over TLS").verdict == OK
    with Sink(tls="starttls") as sink:
        assert one(ask(smtp=Smtp("127.0.0.1", sink.port, "starttls", "", "")), "with STARTTLS").verdict == OK


def test_a_password_for_all_to_read_is_a_problem(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    way = WayIn("imap", "imap.example.org", 143, False, "clachan", PASSWORD, "INBOX")
    found = ask(smtp=Smtp("mail.example.org", 25, "none", "clachan", PASSWORD), mail_in=(way,))
    assert one(found, "mail.example.org", "for all to read", "smtps://").verdict == PROBLEM
    assert one(found, "imap.example.org", "for all to read", "imaps://").verdict == PROBLEM


def test_without_a_way_in_it_says_how_to_open_one(ask: Ask) -> None:
    assert one(ask(mail_in=()), "CLACHAN_MAIL_IN").verdict == OK


def test_a_listener_must_answer_on_its_port_and_be_ours(ask: Ask) -> None:
    def refuse(*_: object) -> bool:
        raise AssertionError

    listener = Listener(WayIn("lmtp", "127.0.0.1"), DOMAIN, refuse, refuse, refuse, refuse)
    listener.start()
    way = WayIn("lmtp", "0.0.0.0", listener.port)
    assert str(one(ask(mail_in=(way,)), "LMTP port")) == f"ok: We listen at LMTP port {listener.port} of 127.0.0.1."
    listener.stop()
    assert one(ask(mail_in=(way,)), "Nobody answers", "clachan serve").verdict == UNKNOWN
    with Sink() as sink:
        way = WayIn("smtp", "127.0.0.1", sink.port)
        assert one(ask(mail_in=(way,)), "Somebody else answers", "CLACHAN_MAIL_IN", "220 sink.test").verdict == PROBLEM
    assert one(ask(mail_in=(replace(way, host="nowhere.invalid"),)), "cannot be reached").verdict == PROBLEM


@pytest.mark.imap
def test_a_mailbox_must_let_us_in_and_have_its_folder(ask: Ask) -> None:
    assert dovecot.PROGRAM.exists(), "get it: apt-get install dovecot-imapd"
    with dovecot.Server(CERTIFICATE_AND_KEY) as server:
        way = WayIn("imap", "127.0.0.1", server.port, False, dovecot.USER, dovecot.PASSWORD, "INBOX")
        found = ask(mail_in=(way,))
        assert one(found, "lets us in and opens the folder INBOX").verdict == OK
        assert one(found, "from where we fetch it").verdict == OK
        wrong = replace(way, password=PASSWORD + "!")
        assert one(ask(mail_in=(wrong,)), "refuses our user or password", "CLACHAN_MAIL_IN").verdict == PROBLEM
        assert one(ask(mail_in=(replace(way, folder="Else"),)), "its folder Else cannot be opened").verdict == PROBLEM
    assert one(ask(mail_in=(way,)), "cannot be reached (Connection refused)").verdict == PROBLEM


@pytest.mark.parametrize(
    ("place", "records", "verdict", "words"),
    [
        ((DOMAIN, "MX"), None, PROBLEM, "no MX record, so no answer arrives"),
        ((DOMAIN, "MX"), ["0 ."], PROBLEM, "takes no mail"),
        ((DOMAIN, "TXT"), ['"v=spf10 +all"'], PROBLEM, "no SPF record"),
        ((DOMAIN, "TXT"), ['"v=spf1 mx -all"', '"v=spf1 a ~all"'], PROBLEM, "2 SPF records"),
        ((DOMAIN, "TXT"), ['"V=SPF1 mx +ALL"'], PROBLEM, "lets everybody send"),
        ((DOMAIN, "TXT"), ['"v=spf1 all"'], PROBLEM, "lets everybody send"),
        ((DOMAIN, "TXT"), [f'"v=spf1 {"ip4:192.0.2.1 " * 14}" "ip4:192.0.2.9 +all"'], PROBLEM, "lets everybody send"),
        ((DOMAIN, "TXT"), ['"v=spf1 include:_spf.example.net ~all"'], OK, "include:_spf.example.net"),
        (("_dmarc.play.example.org", "TXT"), None, PROBLEM, "no DMARC record"),
        (("_dmarc.play.example.org", "TXT"), ['"v=DMARC1; rua=mailto:a@b.c"'], PROBLEM, "has no policy"),
        (("_dmarc.play.example.org", "TXT"), ['"v=DMARC1; p=none"', '"v=DMARC1;p=reject"'], PROBLEM, "2 DMARC"),
        (("_dmarc.play.example.org", "TXT"), ['"v = DMARC1 ; p = none"'], OK, "p = none"),
        (("s1._domainkey.play.example.org", "TXT"), None, PROBLEM, "There is no key"),
        (("s1._domainkey.play.example.org", "TXT"), ['"v=DKIM1; p="'], PROBLEM, "withdrawn"),
    ],
)
def test_what_the_dns_publishes_is_judged(
    place: tuple[str, str], records: list[str] | None, verdict: str, words: str, ask: Ask, names: Names
) -> None:
    if records is None:
        del names.records[place]
    else:
        names.records[place] = records
    assert one(ask("s1"), words).verdict == verdict


def test_a_domain_without_mx_gets_mail_at_its_address(ask: Ask, names: Names) -> None:
    names.records[(DOMAIN, "AAAA")] = ["2001:db8::1"]
    del names.records[(DOMAIN, "MX")]
    assert one(ask(), "no MX record, so mail goes to its address").verdict == UNKNOWN


def test_the_dmarc_record_of_a_domain_above_holds(ask: Ask, names: Names) -> None:
    del names.records[("_dmarc.play.example.org", "TXT")]
    names.records[("_dmarc.example.org", "TXT")] = ['"v=DMARC1; p=none; sp=reject"']
    assert one(ask(), "DMARC of play.example.org: v=DMARC1; p=none; sp=reject").verdict == OK
    names.records[("_dmarc.example.org", "TXT")] = ['"v=DMARC1; p=none; sp=maybe"']
    assert one(ask(), "_dmarc.example.org has no policy").verdict == PROBLEM


def test_signatures_cannot_be_judged_without_the_selector(ask: Ask) -> None:
    assert one(ask(), "(DKIM)", "--selector").verdict == UNKNOWN


def test_a_dns_that_does_not_answer_tells_nothing(
    ask: Ask, names: Names, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "LOOK_UP", 0.5)
    names.silent = {DOMAIN, "_dmarc.play.example.org", "s1._domainkey.play.example.org"}
    found = [finding for finding in ask("s1") if "DNS gave no answer" in finding.sentence]
    assert [finding.verdict for finding in found] == [UNKNOWN] * 4

    def none(*_: object, **__: object) -> None:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver, "Resolver", none)
    assert one(check.check(settings), "knows no DNS server").verdict == UNKNOWN
