"""A finished match told as a whole: charts with their tables, turning points, times."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from house import House
from hypothesis import given
from hypothesis import strategies as st

from server import charts, log, story, tale
from server.charts import Series
from server.models import Match


def told(house: House, match: Match) -> tale.Tale:
    found = tale.tell(house.played(match), story.names(log.places(match)))
    assert found
    return found


@pytest.mark.parametrize("name", ["clans-06", "glory-02"])
def test_the_charts_end_with_the_result(cottage: House, name: str) -> None:
    match, record = cottage.recorded(name)
    points = told(cottage, match).charts[0]
    assert points.columns == tuple(record["players"])
    assert points.rows[-1][1] == tuple(map(str, record["result"]["scores"]))
    assert points.rows[0] == (0, ("0",) * len(record["players"]))


def test_the_points_of_the_clans_are_followed_move_by_move(cottage: House) -> None:
    match, record = cottage.recorded("clans-06")
    chart = next(chart for chart in told(cottage, match).charts if chart.title == "Points of the clans")
    assert (
        dict(zip(chart.columns, map(int, chart.rows[-1][1]), strict=True)) == record["result"]["detail"]["clan_points"]
    )
    steps = [seq for seq, _ in chart.rows]
    villages = len(record["result"]["detail"]["villages"])
    assert len(steps) <= villages + 1, "only rows that changed something are in the table"


def test_a_turning_point_changed_the_leads_most(cottage: House) -> None:
    match, _ = cottage.recorded("clans-06")
    turns = told(cottage, match).turns
    assert 1 <= len(turns) <= 3
    assert [turn.seq for turn in turns] == sorted(turn.seq for turn in turns)
    assert all(turn.sentences and turn.changes for turn in turns)


def test_the_time_of_a_move_runs_from_being_asked(cottage: House) -> None:
    match, record = cottage.recorded("glory-02")
    found = told(cottage, match)
    assert {median for _, median, _ in found.times} == {"10 minutes"}
    chart = found.charts[-1]
    assert len(chart.rows) == len(record["log"])
    assert {row[1][1] for row in chart.rows} == {"10 minutes"}


def test_while_a_match_runs_nothing_is_told(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    assert tale.tell(cottage.played(match), ["Ailsa", "Bran"]) is None


def test_a_match_that_ended_before_the_first_move_has_no_tale(cottage: House) -> None:
    from server import seating

    match = cottage.started("Ailsa", "Bran")
    seating.cancel(match.id, cottage.people["Ailsa"], "web", now=cottage.now)
    assert tale.tell(cottage.played(match), ["Ailsa", "Bran"]) is None


@given(st.lists(st.lists(st.integers(-50, 500), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_chart_is_a_drawing_within_its_frame(values: list[list[int]]) -> None:
    series = [Series(f"<{number}>", value, "seat-0") for number, value in enumerate(values)]
    drawing = charts.lines('A "title" & more', series, [0, 3, 9])
    root = ElementTree.fromstring(drawing)
    assert "style=" not in drawing
    points = [
        float(x) for line in root.iter("polyline") for pair in line.get("points", "").split() for x in pair.split(",")
    ]
    assert all(0 <= point <= charts.WIDTH for point in points)
    ends = sorted(float(text.get("y", "0")) for text in root.iter("text") if "end" in text.get("class", ""))
    assert all(after - before > 10 for before, after in pairwise(ends)), "no name covers another"


@given(st.lists(st.floats(0, 2000), min_size=1, max_size=40))
def test_bars_stand_on_the_ground(values: list[float]) -> None:
    drawing = charts.bars("Time", [(number, value, "seat-1") for number, value in enumerate(values)], " h")
    for bar in ElementTree.fromstring(drawing).iter("rect"):
        assert float(bar.get("y", "0")) >= 0
        assert float(bar.get("height", "0")) >= 1
