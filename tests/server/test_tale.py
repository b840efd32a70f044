"""A finished match told as a whole: charts with their tables, chances, turning points, times."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from house import RECORDS, House
from hypothesis import given
from hypothesis import strategies as st

from server import analysis, archive, charts, log, story, tale
from server.charts import Series
from server.models import Analysis, Match


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
    points = dict(told(cottage, match).charts[0].rows)
    for turn in turns:
        for name, before, after in turn.changes:
            assert before != after
            assert points[turn.seq][told(cottage, match).charts[0].columns.index(name)] == str(after)


def test_the_time_of_a_move_runs_from_being_asked(cottage: House) -> None:
    match, record = cottage.recorded("glory-02")
    found = told(cottage, match)
    assert {median for _, median, _ in found.times} == {"10 minutes"}
    chart = found.charts[-1]
    assert len(chart.rows) == len(record["log"])
    assert {row[1][1] for row in chart.rows} == {"10 minutes"}
    assert chart.title == "Time for each move, in minutes"
    assert not chart.left_out


def test_times_too_short_to_be_seen_are_not_drawn(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    while cottage.played(match).outcome is None:
        cottage.later(seconds=20)
        cottage.move(match)
    found = told(cottage, match)
    assert {longest for _, _, longest in found.times} == {"less than a minute"}
    assert not any("Time" in chart.title for chart in found.charts)


def test_while_a_match_runs_nothing_is_told(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    assert tale.tell(cottage.played(match), ["Ailsa", "Bran"]) is None


def test_a_match_that_ended_before_the_first_move_has_no_tale(cottage: House) -> None:
    from server import seating

    match = cottage.started("Ailsa", "Bran")
    seating.cancel(match.id, cottage.people["Ailsa"], "web", now=cottage.now)
    assert tale.tell(cottage.played(match), ["Ailsa", "Bran"]) is None


def judge(match: Match, chances: list[list[int]]) -> None:
    """Store chances in thousandths after each of the first rows, as if the bots had judged the match so."""
    rows = [[seq, *shares] for seq, shares in enumerate(chances)]
    Analysis.insert(match=match, chances=rows, playouts=500, version=analysis.VERSION).execute()


def test_the_three_largest_swings_are_named(cottage: House) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    seats = [row.seat for row in cottage.played(match).rows]
    mine = [500, 640, 640, 400, 430, 430, 760, 760, 660, *[660] * (match.length - 9), 1000]
    judge(match, [[share, 1000 - share] for share in mine])
    chances = told(cottage, match).chances
    assert chances
    assert [swing.seq for swing in chances.swings] == [3, 6, match.length], "in the order they were made"
    for swing, before, after in zip(chances.swings, (64, 43, 66), (40, 76, 100), strict=True):
        seat = seats[swing.seq - 1]
        assert swing.mover == swing.name == ("Bran" if seat else "Ailsa")
        assert (swing.before, swing.after) == ((100 - before, 100 - after) if seat else (before, after))
        assert swing.sentences
    assert chances.chart.columns == ("Ailsa", "Bran")
    assert chances.chart.rows[0] == (0, ("50 %", "50 %"))
    assert [name for _, name in chances.chart.legend] == ["Ailsa", "Bran"]
    assert chances.playouts == 500


def test_a_swing_is_that_of_the_seat_whose_chances_changed_most(cottage: House) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran", "Catrin"))
    second = cottage.played(match).rows[1]
    mover, names = second.seat or 0, ("Ailsa", "Bran", "Catrin")
    loser = (mover + 1) % 3
    then = [200 if seat == loser else 380 if seat == mover else 420 for seat in range(3)]
    judge(match, [[400 if seat == loser else 300 for seat in range(3)]] * 2 + [then] * (match.length - 1))
    chances = told(cottage, match).chances
    assert chances
    (swing,) = chances.swings
    assert (swing.seq, swing.mover, swing.move) == (2, names[mover], second.text)
    assert (swing.name, swing.before, swing.after) == (names[loser], 40, 20)


def test_a_swing_that_chance_may_have_made_is_none(cottage: House) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    judge(match, [[500 + 40 * (-1) ** seq, 500 - 40 * (-1) ** seq] for seq in range(match.length + 1)])
    chances = told(cottage, match).chances
    assert chances
    assert chances.swings == ()


def test_a_move_that_was_taken_back_is_no_swing(cottage: House) -> None:
    match = archive.add((RECORDS / "clans-undo.json").read_bytes(), cottage.now)
    undo = next(row for row in cottage.played(match).rows if row.kind == "undo")
    gone = range(int(undo.text), undo.seq)
    judge(match, [[900, 100] if seq in gone else [500, 500] for seq in range(match.length + 1)])
    chances = told(cottage, match).chances
    assert chances
    assert chances.swings == ()


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=4).filter(any))
def test_per_cents_are_a_hundred_in_sum_and_no_further_off_than_one(weights: list[int]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    found = tale.percents(shares)
    assert sum(found) == 100
    assert all(abs(whole - share * 100) < 1 for whole, share in zip(found, shares, strict=True))


@given(st.lists(st.lists(st.integers(-50, 500), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_chart_is_a_drawing_within_its_frame(values: list[list[int]]) -> None:
    series = [Series(f"<{number}>", value, "seat-0") for number, value in enumerate(values)]
    drawing = charts.lines('A "title" & more', series, [0, 3, 9])
    root = ElementTree.fromstring(drawing)
    assert "style=" not in drawing
    points = [
        float(x) for line in root.iter("polyline") for pair in line.get("points", "").split() for x in pair.split(",")
    ]
    assert all(0 <= point <= charts.WIDTH for point in points)
    marks = [mark for mark in root.iter("path") if "mark" in mark.get("class", "")]
    assert len({mark.get("d") for mark in marks}) == len(series), "each line has marks of its own shape"


def test_a_legend_shows_the_line_as_the_chart_does() -> None:
    drawing = charts.lines("Points", [Series("Ailsa", [1, 2], "seat-0"), Series("Bran", [0, 3], "seat-1")], [0, 4])
    for number, look in enumerate(("seat-0", "seat-1")):
        sample = ElementTree.fromstring(charts.sample(number, look))
        line, mark = sample.iter("path")
        assert f'class="{line.get("class")}"' in drawing
        assert f'd="{mark.get("d")}"' in drawing


def test_numbers_below_nothing_are_within_the_frame_too() -> None:
    drawing = ElementTree.fromstring(charts.lines("Lead", [Series("Ailsa", [-30, 12, 100], "seat-0")], [0, 1, 2]))
    (line,) = drawing.iter("polyline")
    heights = [float(pair.split(",")[1]) for pair in line.get("points", "").split()]
    assert charts.TOP <= min(heights) < max(heights) <= charts.HEIGHT - charts.BOTTOM


@given(st.lists(st.floats(0, 2000), min_size=1, max_size=40))
def test_bars_stand_on_the_ground(values: list[float]) -> None:
    drawing = charts.bars("Time", [(number, value, "seat-1") for number, value in enumerate(values)], " h")
    for bar in ElementTree.fromstring(drawing).iter("rect"):
        assert float(bar.get("y", "0")) >= 0
        assert float(bar.get("height", "0")) >= 1
