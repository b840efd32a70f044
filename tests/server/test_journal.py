"""What is logged: a line for each request, as text or JSON, without anything that was asked for."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from house import House, house_settings
from visitor import Visitor, application

from server import journal, scheduler


class Kept(logging.Handler):
    """A handler that keeps lines as JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(journal.JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        self.lines.append(self.format(record))

    def told(self) -> list[dict[str, Any]]:
        """Return the lines as they are read."""
        assert all("\n" not in line for line in self.lines)
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def kept(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    # A command that was carried out before in this process may have begun to log as it likes.
    caplog.set_level(logging.INFO, logger="server.requests")
    handler = Kept()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


def requests(kept: Kept) -> list[dict[str, Any]]:
    return [line for line in kept.told() if line["logger"] == "server.requests"]


def test_a_request_leaves_a_line_with_its_number_endpoint_status_time_and_match(
    cottage: House, monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    match = cottage.begun("Ailsa", "Bran")
    visitor = Visitor(application(cottage, monkeypatch), cottage.people["Ailsa"])
    visitor.get(f"/matches/{match.id}", headers={"X-Request-ID": "made-by-a-stranger"})
    line = requests(kept)[-1]
    assert (line["endpoint"], line["method"], line["status"], line["match"]) == ("match.show", "GET", 200, match.id)
    assert line["level"] == "info"
    assert line["ms"] > 0
    assert len(line["request"]) == 32
    visitor.get("/readyz")
    line = requests(kept)[-1]
    assert (line["endpoint"], line["status"], line["level"]) == ("health.ready", 503, "error")
    assert "match" not in line


@pytest.mark.parametrize("given", ["from-the-proxy.1", "short", "x" * 65, 'quote"and\\more', "new line"])
def test_a_trusted_proxy_may_number_requests(
    cottage: House, monkeypatch: pytest.MonkeyPatch, kept: Kept, given: str
) -> None:
    cottage.settings = house_settings(cottage.settings.database, cottage.settings.data, TRUSTED_PROXIES="1")
    Visitor(application(cottage, monkeypatch)).get("/healthz", headers={"X-Request-ID": given})
    assert (requests(kept)[-1]["request"] == given) == (given == "from-the-proxy.1")


def test_what_was_asked_for_is_in_no_line(cottage: House, monkeypatch: pytest.MonkeyPatch, kept: Kept) -> None:
    match = cottage.begun("Ailsa", "Bran")
    visitor = Visitor(application(cottage, monkeypatch), cottage.people["Ailsa"])
    visitor.get("/reset/hush-token?asked=hush-query", headers={"Referer": "http://x/hush-referer"})
    visitor.get("/people/hush-name?opponents=hush")
    visitor.get("/hush/path")
    visitor.post("/signin", who="hush@example.org", password="hush-password")
    visitor.post(f"/matches/{match.id}/moves", move="hush-move", expected="0")
    visitor.client.open("/", method="HUSH")
    assert len(requests(kept)) >= 6
    assert "hush" not in "".join(kept.lines).lower()


def test_other_lines_tell_which_request_they_belong_to(
    cottage: House, monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    app = application(cottage, monkeypatch)

    def fails() -> None:
        raise RuntimeError("hush: what somebody sent")

    app.view_functions["front.index"] = fails
    assert Visitor(app).get("/").status_code == 500
    fault, asked = kept.told()[-2:]
    assert fault["message"] == "a request failed"
    assert fault["request"] == asked["request"]
    assert fault["endpoint"] == "front.index"
    assert fault["fault"] == "RuntimeError"
    assert fault["places"][-1].startswith("tests/server/test_journal.py:")
    assert "hush" not in "".join(kept.lines)
    logging.getLogger("server").info("later")
    assert "request" not in kept.told()[-1]


def test_the_fault_of_a_job_is_kept_without_its_words() -> None:
    try:
        raise ValueError("hush")
    except ValueError as fault:
        told = journal.kind(fault)
    assert told.startswith("ValueError in tests/server/test_journal.py:")
    assert "hush" not in told
    assert journal.kind(ValueError("hush")) == "ValueError"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_process_logs_in_the_form_of_its_settings(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    levels = {name: logging.getLogger(name).level for name in ("", "apscheduler", "server.requests")}
    try:
        journal.begin(form)
        logging.getLogger("server.outbox").warning("mail %s waits", 7)
        journal.requests.info("GET front.index 200")
        journal.requests.error("GET front.index 500")
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
    lines = capsys.readouterr().err.splitlines()
    if form == "text":
        assert [line.split(" ", 2)[2] for line in lines] == [
            "WARNING server.outbox: mail 7 waits",
            "ERROR server.requests: GET front.index 500",
        ]
    else:
        assert [json.loads(line)["message"] for line in lines] == [
            "mail 7 waits",
            "GET front.index 200",
            "GET front.index 500",
        ]


def test_a_job_notes_the_kind_of_its_fault_alone(cottage: House, monkeypatch: pytest.MonkeyPatch, kept: Kept) -> None:
    made = scheduler.Scheduler(cottage.settings)

    def fails() -> None:
        raise LookupError("hush")

    made.jobs["bots"] = fails
    made.run("bots")
    job = scheduler.Job.get(scheduler.Job.name == "bots")
    assert job.fault.startswith("LookupError in ")
    assert "hush" not in job.fault + "".join(kept.lines)
