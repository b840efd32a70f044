"""What a page must have so that everybody can read and work it (WCAG 2.2, A and AA), as questions to the page.

The reader is one who wants no motion; so colours that fade into each other are not judged half-way.
"""

from __future__ import annotations

from typing import Any

from people import RULES
from playwright.sync_api import Page

NARROW = {"width": 320, "height": 640}
HALF = {"width": 640, "height": 720}
WIDE = {"width": 1280, "height": 900}

AXE = "rules => axe.run({runOnly: rules, resultTypes: ['violations']}).then(found => found.violations)"
CONTRAST = ["color-contrast"]
# What sticks out at the right, innermost, unless it lies in a part that scrolls by itself, as a wide board may.
WIDER = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return [];
  const all = [...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > room + 1);
  const found = all.filter(one => !all.some(other => other !== one && one.contains(other)));
  return (found.length ? found : [document.body]).slice(0, 3).map(one => one.outerHTML.slice(0, 160));
}"""
MOVING = """() => {
  const long = times => times.split(',').some(time => parseFloat(time) * (time.trim().endsWith('ms') ? 1 : 1000) > 20);
  const running = document.getAnimations().filter(one => one.playState === 'running').map(one => one.effect.target);
  const would = [...document.querySelectorAll('body *')].filter(one => {
    const style = getComputedStyle(one);
    const moves = style.transitionProperty !== 'none' && long(style.transitionDuration);
    return moves || (style.animationName !== 'none' && long(style.animationDuration));
  });
  return [...new Set([...running, ...would])].slice(0, 3).map(one => one.outerHTML.slice(0, 160));
}"""
# With forced colours grounds are gone: what is pressed or filled in needs an edge or a line under its words.
EDGELESS = """() => {
  const edge = style => ['Top', 'Bottom'].some(side =>
    style[`border${side}Style`] !== 'none' && parseFloat(style[`border${side}Width`]) > 0);
  const found = [...document.querySelectorAll('button, .button, input:not([type=hidden]), select, textarea')];
  return found.filter(one => one.checkVisibility() && getComputedStyle(one).appearance === 'none')
    .filter(one => !edge(getComputedStyle(one)) && !getComputedStyle(one).textDecorationLine.includes('underline'))
    .slice(0, 3).map(one => one.outerHTML.slice(0, 160));
}"""
# Everything that the Tab key should reach; of radio buttons of one name it reaches one.
STOPS = """() => {
  const able = [...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]')];
  const found = able.filter(one => one.tabIndex >= 0 && !one.disabled && !one.closest('[inert]')
    && one.checkVisibility({visibilityProperty: true})
    && !(one.type === 'radio' && !one.checked && one.form?.elements[one.name] instanceof RadioNodeList));
  window.stops = new Map(found.map(one => [one, '']));
  window.addEventListener('focusin', event => {
    const one = event.target;
    const shown = [one, ...one.querySelectorAll('*'), one.parentElement, one.closest('li'), ...(one.labels ?? [])];
    const ring = shown.filter(Boolean).some(part => {
      const style = getComputedStyle(part);
      const lined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
      const drawn = part instanceof SVGElement && one !== part && one.contains(part);
      return lined || (drawn && parseFloat(style.strokeWidth) >= 2);
    });
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const inside = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
    window.stops.set(one, !ring ? 'no ring' : !inside ? 'out of sight' : 'fine');
  });
  // From the top: a page may have set the focus itself.
  const top = document.createElement('span');
  top.tabIndex = -1;
  document.body.prepend(top);
  top.focus();
  top.remove();
  window.stops.delete(top);
  // The parts of a date or a time are stops of their own.
  return found.length + 4 * found.filter(one => ['date', 'time'].includes(one.type)).length + 3;
}"""
UNREACHED = """() => [...window.stops].filter(([, found]) => found !== 'fine').slice(0, 3)
  .map(([one, found]) => `${found || 'not reached'}: ${one.outerHTML.slice(0, 160)}`)"""


def of_rules(page: Page, axe: str) -> list[str]:
    """Return which of the rules of axe the page breaks, its contrast in the dark too."""
    page.evaluate(axe)
    page.emulate_media(color_scheme="light")
    found = _named(page.evaluate(AXE, RULES))
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {fault}" for fault in _named(page.evaluate(AXE, CONTRAST))]
    page.emulate_media(color_scheme="light")
    return found


def _named(violations: list[dict[str, Any]]) -> list[str]:
    return [f"{one['id']}: {node['html'][:200]}" for one in violations for node in one["nodes"][:3]]


def of_width(page: Page) -> list[str]:
    """Return what sticks out on a screen 320 pixels wide, and with letters twice as large."""
    page.set_viewport_size(NARROW)
    found = [f"wider than 320: {part}" for part in page.evaluate(WIDER)]
    page.set_viewport_size(HALF)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    found += [f"wider with large letters: {part}" for part in page.evaluate(WIDER)]
    page.evaluate("document.documentElement.style.fontSize = ''")
    page.set_viewport_size(WIDE)
    return found


def of_wishes(page: Page) -> list[str]:
    """Return what moves although the reader wants no motion, and what has no edge where he forces his own colours."""
    found = [f"moves: {part}" for part in page.evaluate(MOVING)]
    page.emulate_media(forced_colors="active")
    found += [f"no edge: {part}" for part in page.evaluate(EDGELESS)]
    page.emulate_media(forced_colors="none")
    return found


def of_keys(page: Page) -> list[str]:
    """Return what the Tab key does not reach, or where its focus does not show."""
    faults: list[str] = []
    # A page that shows what a move would do leads there by itself when it has been loaded: then once more.
    for _ in range(2):
        for _ in range(page.evaluate(STOPS)):
            page.keyboard.press("Tab")
        faults = page.evaluate(UNREACHED)
        if not faults:
            break
    return faults
