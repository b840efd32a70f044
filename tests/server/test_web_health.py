"""The page that says whether everybody is at work."""

from __future__ import annotations

from datetime import timedelta

import pytest
from house import House
from visitor import Visitor, application

from server import scheduler
from server.inbound import door
from server.models import Inbound


def test_mail_that_nobody_reads_makes_the_house_unready(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(application(cottage, monkeypatch))
    scheduler.note("deadlines", cottage.now, cottage.now, "")
    assert visitor.get("/readyz").get_json()["checks"]["inbound"]
    door.take(b"Subject: Hello\n\n", door.Envelope("smtp"), cottage.now - timedelta(minutes=16))
    answer = visitor.get("/readyz")
    assert (answer.status_code, answer.get_json()["checks"]["inbound"]) == (503, False)
    Inbound.update(done_at=cottage.now).execute()
    assert visitor.get("/readyz").status_code == 200
