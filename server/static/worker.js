// Shows a page that says so when a page cannot be loaded, and the messages that the browser's push service brings. It
// keeps that page and its sheet; no other answer of the site is ever stored.
"use strict";

const given = new URL(location.href).searchParams;
const PAGE = `/offline/${given.get("language")}`;
const KEPT = `offline ${given.get("language")} ${given.get("v")}`;

/** Fetch what is kept, as a stranger would and past the browser's own store; a page of an error is not kept. */
async function fresh(address) {
  const answer = await fetch(address, { cache: "reload", credentials: "omit" });
  if (!answer.ok) {
    throw new Error(answer.statusText);
  }
  return answer;
}

async function keep() {
  const page = await fresh(PAGE);
  const [, sheet] = /href="([^"]+\.css)"/.exec(await page.clone().text());
  const kept = await caches.open(KEPT);
  await Promise.all([kept.put(PAGE, page), kept.put(sheet, await fresh(sheet))]);
}

async function forget(all) {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => all || name !== KEPT).map((name) => caches.delete(name)));
}

/** Return what is kept of an address, or undefined. */
async function kept(address) {
  return (await caches.open(KEPT)).match(address, { ignoreVary: true });
}

let asked = false;

/** Go, with all that was kept, if the server no longer has this worker; asked once each time it wakes. */
async function leave() {
  if (!asked) {
    asked = true;
    const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" });
    if (answer.status === 404) {
      await forget(true);
      await registration.unregister();
    }
  }
}

async function load(event) {
  try {
    const answer = await fetch(event.request);
    event.waitUntil(leave().catch(() => {}));
    return answer;
  } catch {
    return (await kept(PAGE)) ?? Response.error();
  }
}

/** Show a message; one about the same page takes the place of the one before. */
function tell(message) {
  const { title, text, path, language } = message.json();
  const icon = "/static/today/icons/192.png";
  return registration.showNotification(title, { body: text, lang: language, tag: path, renotify: true, icon, data: path });
}

/** Bring the page of a message to the front, where it is open; else open it. Of other sites none is opened. */
async function bring(path) {
  const { origin, pathname } = new URL(path, location.origin);
  if (origin !== location.origin) {
    return null;
  }
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const open = pages.find((page) => new URL(page.url).pathname === pathname);
  return open ? open.focus() : clients.openWindow(pathname);
}

// One that takes the place of another waits until no page is open: put in its place while it fetches a page, that page
// would not come.
addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(forget(false).then(() => clients.claim())));
addEventListener("push", (event) => event.waitUntil(tell(event.data)));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(bring(event.notification.data));
});
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.mode === "navigate") {
    event.respondWith(load(event));
  } else if (request.destination === "style" && request.url.endsWith("/offline.css")) {
    event.respondWith(kept(request.url).then((found) => found ?? fetch(request)));
  }
});
