"""The small drawings of the Clans map, each an SVG symbol's content around its own origin, and the inks they use.

Trees, peaks, tufts and meadow strokes stand on their origin and are up to forty units high. Huts fill a square of
100 units around theirs and are scaled to the room there is.
"""

from __future__ import annotations

INK = "#2b2118"
PAPER = "#fbf4e0"
PREFIX = "clans-"
"""Begins every id of the picture, so that none clashes with an id of the page around it."""

CLAN_COLOURS = {"red": "#C8102E", "blue": "#0B4FA8", "green": "#3FB68B", "yellow": "#FFD400", "black": "#141414"}
CLAN_INKS = {"red": "#fff", "blue": "#fff", "green": "#07261a", "yellow": "#2b1a00", "black": "#f7ecd0"}
"""What is written and drawn on a hut of each clan."""

_SHADES = {"red": "#a80c25", "blue": "#093f8c", "green": "#33a079", "yellow": "#f0bf00", "black": "#2c2c2c"}

_STRAW = {"red": "#4a000c", "blue": "#001a40", "green": "#064a33", "yellow": "#6b4a00", "black": "#8a8a8a"}
# The roof of each clan is another one, so that the outline alone tells them apart.
_ROOFS = {
    "red": "M0-54L54-4H-54Z",
    "blue": "M-55-48Q-40-20 0-20T55-48Q54-14 46 0H-46Q-54-14-55-48Z",
    "green": "M-27-53L0-24 27-53 55-2H-55Z",
    "yellow": "M-50 0C-50-70 50-70 50 0Z",
    "black": "M-48-50H-25V-35H-12V-50H12V-35H25V-50H48V0H-48Z",
}
# How the straw lies on each roof.
_THATCH = {
    "red": "M-34-13-38-7M-17-28-22-10M0-42V-12M17-28 22-10M34-13 38-7",
    "blue": "M-38-26-34-8M-19-17-17-5M0-15V-5M19-17 17-5M38-26 34-8",
    "green": "M-27-42V-9M-40-20-42-9M-13-27-14-9M13-27 14-9M40-20 42-9M27-42V-9",
    "yellow": "M-33-26-38-7M-17-40-20-8M0-44V-8M17-40 20-8M33-26 38-7",
    "black": "M-37-25V-14M-18-25V-14M0-25V-14M18-25V-14M37-25V-14",
}
_WALLS = "M-41-4H41V44Q41 50 35 50H-35Q-41 50-41 44Z"

# The tartan of each clan: the size of its repeat, then start, width, colour and opacity of its bands.
_SETTS: dict[str, tuple[int, tuple[tuple[float, float, str, float], ...]]] = {
    "red": (22, ((2, 7, "#4d0410", 0.6), (15, 1.7, "#fff0cf", 0.9))),
    "blue": (20, ((3, 3, "#031a40", 0.75), (9, 3, "#031a40", 0.75), (16, 1.5, "#cfe6ff", 0.85))),
    "green": (24, ((0, 11, "#0b4030", 0.45), (17, 1.7, "#fff8d8", 0.9))),
    "yellow": (21, ((4, 5, "#2b1a00", 0.7), (14, 1.7, "#c8102e", 0.85))),
    "black": (20, ((3, 6, "#565656", 0.75), (14, 1.5, "#ffd400", 0.8))),
}

# Emblems, about 44 units across, around the origin; "I" stands for the clan's ink.
_EMBLEMS = {
    "red": '<path d="M-6-24H6V-6H24V6H6V24H-6V6H-24V-6H-6Z" fill="I"/>',
    "blue": '<path d="M-25-5q6.2-12 12.5 0t12.5 0 12.5 0 12.5 0M-25 12q6.2-12 12.5 0t12.5 0 12.5 0 12.5 0" '
    'fill="none" stroke="I" stroke-width="7" stroke-linecap="round"/>',
    "green": '<path d="M0-26L17-4H9L22 14H5V25H-5V14H-22L-9-4H-17Z" fill="I"/>',
    "yellow": '<circle r="11" fill="I"/><path d="M0-26V26M-26 0H26M-18-18L18 18M18-18L-18 18" stroke="I" '
    'stroke-width="5"/>',
    "black": '<path d="M8-24A25 25 0 1 0 8 24 20 20 0 1 1 8-24Z" fill="I"/>',
}


def emblem(clan: str) -> str:
    """Return the emblem of a clan in its ink."""
    return _EMBLEMS[clan].replace('"I"', f'"{CLAN_INKS[clan]}"')


def hut(clan: str) -> str:
    """Return the hut of a clan without emblem or number: a dark outline inside a light one, roof and walls."""
    both = _ROOFS[clan] + _WALLS
    return (
        '<ellipse cy="55" rx="54" ry="9" fill="#2b2118" fill-opacity=".28"/>'
        f'<path d="{both}" fill="none" stroke="{PAPER}" stroke-width="19" stroke-linejoin="round"/>'
        f'<path d="{both}" fill="{CLAN_COLOURS[clan]}" stroke="#120d08" stroke-width="9" stroke-linejoin="round"/>'
        f'<path d="{_WALLS}" fill="{CLAN_COLOURS[clan]}"/><path d="{_ROOFS[clan]}" fill="{_SHADES[clan]}"/>'
        f'<path d="{_THATCH[clan]}" stroke="{_STRAW[clan]}" stroke-opacity=".4" stroke-width="3.5" '
        'stroke-linecap="round"/>'
        f'<path d="M-41-1H41" stroke="#120d08" stroke-opacity=".55" stroke-width="4"/>'
        '<path d="M-36 8V44" stroke="#fff" stroke-opacity=".35" stroke-width="5" stroke-linecap="round"/>'
    )


def tartan(clan: str) -> str:
    """Return the tartan of a clan as a pattern, for whatever a page shows of the clan besides its huts."""
    size, bands = _SETTS[clan]
    woven = "".join(
        f'<path d="M{start} 0h{width}v{size}h-{width}ZM0 {start}v{width}h{size}v-{width}Z" fill="{colour}" '
        f'fill-opacity="{opacity}"/>'
        for start, width, colour, opacity in bands
    )
    return (
        f'<pattern id="{PREFIX}tartan-{clan}" width="{size}" height="{size}" patternUnits="userSpaceOnUse" '
        f'patternTransform="scale(.5)"><rect width="{size}" height="{size}" fill="{CLAN_COLOURS[clan]}"/>{woven}'
        "</pattern>"
    )


TREES = {
    "pine": '<path d="M0 1V-4" stroke="#4a3724" stroke-width="2.4"/><path d="M0-25L7-13H4.5L9-4H-9L-4.5-13H-7Z" '
    'fill="#55734a" stroke="#26331f" stroke-width="1.3" stroke-linejoin="round"/>'
    '<path d="M2-20L5-14H3L7-6H2Z" fill="#3d5734"/>',
    "oak": '<path d="M0 1V-6" stroke="#4a3724" stroke-width="2.6"/><path d="M-7-6C-13-7-12-16-7-16C-6-23 6-23 7-16'
    'C12-16 13-7 7-6Q0-4-7-6Z" fill="#6d8a55" stroke="#26331f" stroke-width="1.3"/>'
    '<path d="M2-19C9-17 10-9 5-7Q8-13 2-19Z" fill="#4c683d"/>',
}
PEAKS = {
    "peak": '<path d="M-22 2L-9-17-5-14 4-31 12-18 15-20 25 2Q2 6-22 2Z" fill="#ddd3c2" stroke="none"/>'
    '<path d="M4-31L12-18 15-20 25 2Q14 4 5 3L8-7 3-14Z" fill="#8b7f72"/>'
    '<path d="M4-31L-1-21.5 2-23 4-19 7-22 9-23Z" fill="#fffdf4"/>'
    '<path d="M-22 2L-9-17-5-14 4-31 12-18 15-20 25 2M4-31L3-14 8-7 5 2M-9-17L-10-8M12-1L11-8M17 0L15-10M21 1L19-5" '
    'fill="none" stroke="#3c332b" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/>',
}
SCREE = {
    "crag": '<path d="M-14 2L-3-19 3-13 13 2Q0 5-14 2Z" fill="#ddd3c2"/><path d="M-3-19L3-13 13 2Q6 4 1 3L2-6Z" '
    'fill="#8b7f72"/><path d="M-14 2L-3-19 3-13 13 2M-3-19L2-6 1 2M7 0L5-6" fill="none" stroke="#3c332b" '
    'stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round"/>',
    "stones": '<path d="M-8 1Q-7-4-3-4T2 1ZM3 2Q4-2 7-1.5T9 2Z" fill="#d9cdb6" stroke="#7a6a50"/>',
    "sheep": '<path d="M-5 4V0M3 4V0" stroke="#2b2118" stroke-width="1.5"/><path d="M-8-1C-11-5-6-9-3-7-1-10 5-9 5-6 '
    '9-5 8 1 4 1H-5Q-7 1-8-1Z" fill="#fffaf0" stroke="#4b4030" stroke-width="1.2"/>'
    '<path d="M6-7Q12-8 11-4L8-3Q5-4 6-7Z" fill="#2b2118"/>',
}
TUFTS = {
    "tuft": '<path d="M-7-8Q-4-4-3 1M-2-12Q-1-5-1 1M3-11Q1-5 1 1M8-8Q4-4 3 1" fill="none" stroke="#94702f" '
    'stroke-width="1.7" stroke-linecap="round"/>',
    "dune": '<path d="M-15 0Q-8-7 0-2T15-3" fill="none" stroke="#a98443" stroke-width="1.6" stroke-linecap="round"/>'
    '<path d="M-9 4h.1M-3 3h.1M4 2.5h.1M10 2h.1" stroke="#a98443" stroke-width="1.9" stroke-linecap="round"/>',
}
MEADOW = {
    "grass": '<path d="M-6-6L-4 1M-1-9L0 1M5-6L3 1" fill="none" stroke="#5f8138" stroke-width="1.7" '
    'stroke-linecap="round"/>',
    "flower": '<path d="M-4 1V-5M4 2V-3" stroke="#5f8138" stroke-width="1.5"/><circle cx="-4" cy="-7" r="2.3" '
    'fill="#fff8e2" stroke="#6f6a3a"/><circle cx="4" cy="-5" r="2.3" fill="#e3b0b4" stroke="#7d5a52"/>',
}
VILLAGE = {
    # The gate at which a village's board hangs: two posts and a thatched ridge.
    "gate": '<path d="M-31 0V21M31 0V21" stroke="#2b2118" stroke-width="8.5" stroke-linecap="round"/>'
    '<path d="M-31 0V20M31 0V20" stroke="#9a6f3c" stroke-width="4.5" stroke-linecap="round"/>'
    '<path d="M-42-7Q-20-20 0-21 20-20 42-7L37-2H-37Z" fill="#c99a4e" stroke="#2b2118" stroke-width="2.5" '
    'stroke-linejoin="round"/><path d="M-33-9-36-4M-22-13-24-7M22-13 24-7M33-9 36-4M-9-19-10-13M9-19 10-13" '
    'stroke="#7a5423" stroke-width="1.8" stroke-linecap="round"/>',
}
WATER = {
    "reeds": '<path d="M-7 3Q-7-5-9-12M-2 4Q-2-7-1-16M3 4Q4-5 7-11" fill="none" stroke="#4f6a37" stroke-width="1.6" '
    'stroke-linecap="round"/><path d="M-9-12v-4M-1-16v-5M7-11v-4" stroke="#6b4a22" stroke-width="3" '
    'stroke-linecap="round"/>',
    "boat": '<path d="M-11-2H11Q8 5 0 5T-11-2Z" fill="#8a5f38" stroke="#2b2118" stroke-width="1.5" '
    'stroke-linejoin="round"/><path d="M0-2V-19" stroke="#2b2118" stroke-width="1.5"/><path d="M1-19Q11-11 9-5H1Z" '
    'fill="#fbf4e0" stroke="#2b2118" stroke-width="1.3" stroke-linejoin="round"/>',
    "ripple": '<path d="M-9 0q3-3 6 0t6 0 6 0" fill="none" stroke="#eaf4f2" stroke-width="1.6" '
    'stroke-linecap="round"/>',
    "wave": '<path d="M-16 0Q-10-7-5-1-1-7 5-2 9-7 16-1" fill="none" stroke="#4b7f8c" stroke-width="1.6" '
    'stroke-opacity=".7" stroke-linecap="round"/>',
}
ORNAMENTS = {
    "ship": '<path d="M-34-2Q-44-12-40-24-38-16-30-11H26Q36-15 37-27 43-14 32-3 22 9 0 9T-34-2Z" fill="#7a5230" '
    'stroke="#2b2118" stroke-width="2"/><path d="M-1-11V-58" stroke="#2b2118" stroke-width="2.5"/>'
    '<path d="M-22-54H20Q29-34 20-17H-22Q-12-34-22-54Z" fill="#f6ead0" stroke="#2b2118" stroke-width="2"/>'
    '<path d="M-10-54Q0-34-10-17H-2Q8-34-2-54ZM8-54Q17-34 8-17H14Q23-34 14-54Z" fill="#b5412f"/>'
    '<path d="M-24-6H24" stroke="#2b2118" stroke-width="1.3"/><path d="M-18-3l-6 14M-6-2l-6 14M6-2l-6 14M18-3l-6 14" '
    'stroke="#2b2118" stroke-width="1.5"/>'
    '<g fill="#e8c15a" stroke="#2b2118"><circle cx="-20" cy="-5" r="3.5"/><circle cx="-8" cy="-4" r="3.5"/>'
    '<circle cx="4" cy="-4" r="3.5"/><circle cx="16" cy="-5" r="3.5"/></g>'
    '<path d="M-44 12q7-6 14 0t14 0 14 0 14 0 14 0 14 0" fill="none" stroke="#3b6d7a" stroke-width="2"/>',
    "serpent": '<path d="M-14 8C-14-26 8-26 8 8M18 8C18-18 36-18 36 8M44 8C45-6 50-10 56-12" fill="none" '
    'stroke="#2b2118" stroke-width="12.5"/>'
    '<path d="M-14 9C-14-26 8-26 8 9M18 9C18-18 36-18 36 9M44 9C45-6 50-10 56-12" '
    'fill="none" stroke="#7fa980" stroke-width="8.5"/>'
    '<path d="M56-12L64-22 66-8Z" fill="#7fa980" stroke="#2b2118" stroke-width="2"/>'
    '<path d="M-38 9C-40-8-34-16-38-24Q-42-31-50-27L-63-22Q-67-18-62-17L-52-16Q-47-14-48-4L-48 9Z" fill="#7fa980" '
    'stroke="#2b2118" stroke-width="2" stroke-linejoin="round"/>'
    '<path d="M-40-28l3-9 3 10M-36-20l6-5-2 9M-37-8l6-3-4 8" '
    'fill="#c8553d" stroke="#2b2118" stroke-width="1.3"/><circle cx="-50" cy="-22.5" r="1.8" fill="#2b2118"/>'
    '<path d="M-62-17l-6 4M-10-8h6M22-4h6" stroke="#2b2118" stroke-width="1.4"/>'
    '<path d="M-62 10q6-6 12 0t12 0 12 0 12 0 12 0 12 0 12 0 12 0 12 0 12 0" fill="none" stroke="#3b6d7a" '
    'stroke-width="2.2"/>',
    "compass": '<circle r="30" fill="#f3e6c6" fill-opacity=".75" stroke="#2b2118" stroke-width="1.5"/>'
    '<circle r="25" fill="none" stroke="#2b2118" stroke-width=".8"/>'
    '<path d="M0-13L4-4 13 0 4 4 0 13-4 4-13 0-4-4Z" transform="rotate(45) scale(1.5)" fill="#c9a25a" '
    'stroke="#2b2118"/>'
    '<path d="M0-38L6-6 38 0 6 6 0 38-6 6-38 0-6-6Z" fill="#f6ead0" stroke="#2b2118" stroke-width="1.3"/>'
    '<path d="M0-38V0L6-6ZM38 0H0L6 6ZM0 38V0L-6 6ZM-38 0H0L-6-6Z" fill="#2b2118"/>',
}


def scenery() -> str:
    """Return the drawings that stand on the land and the water alone."""
    return _defined({**SCREE, **WATER, **ORNAMENTS})


def symbols() -> str:
    """Return all other drawings: huts, emblems, marks, what villages are built of, and what stands for a terrain."""
    drawings = {**TREES, **PEAKS, **TUFTS, **MEADOW, **VILLAGE}
    drawings |= {f"hut-{clan}": hut(clan) for clan in CLAN_COLOURS}
    drawings["question"] = (
        f'<circle r="23" fill="{INK}" stroke="{PAPER}" stroke-width="4"/>'
        f'<text y="13" font-size="38" text-anchor="middle" fill="{PAPER}">?</text>'
    )
    drawings |= {f"emblem-{clan}": emblem(clan) for clan in CLAN_COLOURS}
    return _defined(drawings) + "".join(map(tartan, CLAN_COLOURS))


def _defined(drawings: dict[str, str]) -> str:
    """Return drawings as definitions whose ids begin with `PREFIX`."""
    return "".join(f'<g id="{PREFIX}{name}">{drawing}</g>' for name, drawing in drawings.items())
