"""A device is told and told no more at the press of a button; its worker shows messages and leads to the match."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from house import House
from people import DESKTOP, PHONE, Person, happened, until
from playwright.sync_api import Browser, BrowserContext, Page, Worker, expect

from server.models import Way

pytestmark = pytest.mark.browser

# A browser of tests has no push service, so the page is given one that lasts as long as the browser.
SERVICE = """
const given = () => JSON.parse(localStorage.push ?? "null");
const point = Uint8Array.from(atob(POINT), (letter) => letter.charCodeAt());
const read = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (it) => it.charCodeAt());
const made = (found) => found && {
  endpoint: found.endpoint,
  options: { applicationServerKey: read(found.key).buffer },
  getKey: (name) => (name === "auth" ? new Uint8Array(16) : point).buffer,
  unsubscribe: async () => delete localStorage.push,
};
PushManager.prototype.getSubscription = async () => made(given());
PushManager.prototype.subscribe = async ({ applicationServerKey: key }) => {
  if (localStorage.broken) throw new DOMException("no service", "AbortError");
  localStorage.count = Number(localStorage.count ?? 0) + 1;
  localStorage.push = JSON.stringify({ endpoint: `https://push.example.org/${localStorage.count}`, key });
  return made(given());
};
"""
# The generator of the curve, which is a point of it.
POINT = "BGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU="
READY = "async () => Boolean((await navigator.serviceWorker.getRegistration())?.active)"
SHOWN = """async () => (await (await navigator.serviceWorker.getRegistration()).getNotifications())
  .map(({ title, body, lang, tag, data }) => ({ title, body, lang, tag, data }))"""
CLICK = """async () => {
  const done = [];
  WindowClient.prototype.focus = async function () { done.push(`focus ${new URL(this.url).pathname}`); };
  clients.openWindow = async (path) => { done.push(`open ${path}`); };
  const [notification] = await registration.getNotifications();
  const event = new NotificationEvent("notificationclick", { notification });
  const waits = [];
  event.waitUntil = (promise) => waits.push(promise);
  dispatchEvent(event);
  await Promise.all(waits);
  return [...done, (await registration.getNotifications()).length];
}"""


@pytest.fixture
def ailsa(village: House, browser: Browser, people: dict[str, Person], axe: str) -> Person:
    """Somebody whose browser lets the site show messages."""
    found = people.setdefault("Ailsa", Person(village, browser, axe, "Ailsa", **DESKTOP))
    found.context.add_init_script(SERVICE.replace("POINT", json.dumps(POINT)))
    found.context.grant_permissions(["notifications"], origin=village.site)
    return found


@pytest.fixture
def window(village: House, browser: Browser) -> Iterator[BrowserContext]:
    """A window of a stranger that may show messages."""
    context = browser.new_context(base_url=village.site, locale="en-GB", **DESKTOP)
    context.grant_permissions(["notifications"], origin=village.site)
    yield context
    context.close()


def settings(person: Person) -> Page:
    """Go to the settings when the browser has its worker."""
    person.page.goto("/settings")
    until(person.page, READY, bool)
    return person.page


def endpoints() -> list[tuple[str, str]]:
    """Return who is told on which devices."""
    return [(way.user.name, way.address["endpoint"]) for way in Way.select().order_by(Way.id)]


def test_a_device_is_told_and_told_no_more(ailsa: Person) -> None:
    ailsa.sign_in()
    page = settings(ailsa)
    page.get_by_role("button", name="Tell me on this device").click()
    expect(page.get_by_role("status")).to_contain_text("A trial message is on its way to this device.")
    expect(page.get_by_role("button", name="No more on this device")).to_be_visible()
    expect(page.get_by_role("button", name="Tell me on this device")).to_be_hidden()
    assert endpoints() == [("Ailsa", "https://push.example.org/1")]
    assert Way.get().label.startswith("Chrome")
    ailsa.check()
    page.get_by_role("button", name="No more on this device").click()
    expect(page.get_by_role("status")).to_contain_text("This device is told no more.")
    expect(page.get_by_role("button", name="Tell me on this device")).to_be_visible()
    assert endpoints() == []
    assert page.evaluate("localStorage.push") is None


def test_who_comes_next_in_a_browser_has_an_address_of_his_own(ailsa: Person) -> None:
    ailsa.sign_in()
    settings(ailsa).get_by_role("button", name="Tell me on this device").click()
    expect(ailsa.page.get_by_role("button", name="No more on this device")).to_be_visible()
    ailsa.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(ailsa.page.get_by_role("button", name="Sign out", exact=True)).to_have_count(0)
    ailsa.name = "Bran"
    ailsa.sign_in()
    settings(ailsa).get_by_role("button", name="Tell me on this device").click()
    expect(ailsa.page.get_by_role("button", name="No more on this device")).to_be_visible()
    # What was told to the address before comes back, and so it is forgotten.
    assert endpoints() == [("Ailsa", "https://push.example.org/1"), ("Bran", "https://push.example.org/2")]


def test_a_browser_without_its_service_says_so_and_may_try_again(ailsa: Person) -> None:
    ailsa.sign_in()
    page = settings(ailsa)
    page.evaluate("localStorage.broken = 'yes'")
    page.get_by_role("button", name="Tell me on this device").click()
    expect(page.get_by_role("alert")).to_contain_text("could not be reached")
    page.evaluate("delete localStorage.broken")
    page.get_by_role("button", name="Tell me on this device").click()
    expect(page.get_by_role("button", name="No more on this device")).to_be_visible()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })", "Allow notifications"),
        ("delete window.PushManager", "home screen"),
    ],
)
def test_a_browser_that_will_not_says_why(
    village: House, browser: Browser, people: dict[str, Person], axe: str, script: str, said: str
) -> None:
    dugald = people.setdefault("Dugald", Person(village, browser, axe, "Dugald", **PHONE))
    dugald.context.add_init_script(script)
    dugald.sign_in()
    page = settings(dugald)
    expect(page.locator("#device").get_by_text(said)).to_be_visible()
    expect(page.locator("#device").get_by_role("button")).to_have_count(0)
    dugald.check()


def push(window: BrowserContext, page: Page, site: str, **message: str) -> None:
    """Let a message come to the worker."""
    devtools = window.new_cdp_session(page)
    found: list[Any] = []
    devtools.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    devtools.send("ServiceWorker.enable")
    happened(page, lambda: found)
    number = found[-1]["registrationId"]
    data = json.dumps(message)
    devtools.send("ServiceWorker.deliverPushMessage", {"origin": site, "registrationId": number, "data": data})


def the_worker(window: BrowserContext, page: Page) -> Worker:
    """Return the only worker of a window, when the window has heard of it."""
    happened(page, lambda: window.service_workers)
    [worker] = window.service_workers
    return worker


def test_the_worker_shows_the_last_message_about_a_match_and_leads_there(
    village: House, window: BrowserContext
) -> None:
    match = village.begun("Ailsa", "Bran")
    path = f"/matches/{match.id}"
    page = window.new_page()
    page.goto("/")
    until(page, READY, bool)
    page.wait_for_function("() => navigator.serviceWorker.controller")
    told = {"text": "Bran moved.", "path": path, "language": "de"}
    push(window, page, village.site, title="Your turn", **told)
    until(page, SHOWN, bool)
    push(window, page, village.site, title="A reminder", **told)
    reminder = {"title": "A reminder", "body": "Bran moved.", "lang": "de", "tag": path, "data": path}
    until(page, SHOWN, lambda shown: shown == [reminder])
    worker = the_worker(window, page)
    assert worker.evaluate(CLICK) == [f"open {path}", 0]
    page.goto(path)
    push(window, page, village.site, title="Your turn", **told)
    until(page, SHOWN, bool)
    assert worker.evaluate(CLICK) == [f"focus {path}", 0]


def test_the_worker_leads_to_no_other_site(window: BrowserContext) -> None:
    page = window.new_page()
    page.goto("/")
    until(page, READY, bool)
    worker = the_worker(window, page)
    led = """async (paths) => {
      const done = [];
      clients.openWindow = async (path) => { done.push(path); };
      await Promise.allSettled(paths.map(bring));
      return done;
    }"""
    others = [
        "//elsewhere.example.org/",
        "https://elsewhere.example.org/",
        "/\\elsewhere.example.org/",
        "javascript:1",
        "//[",
    ]
    assert worker.evaluate(led, [*others, "/matches/7"]) == ["/matches/7"]
