// The replay of a match: one step after another, by links, arrow keys and the browser's own way back.

import { byId, facts, mountTable, page, root, say, swap } from "./live.js";
import { _ } from "./words.js";

const table = await mountTable(() => {});
let going = Promise.resolve();
let ahead = 0; // steps asked for and not taken yet
let hurry = () => {}; // ends the walk on the picture, because somebody already wants to go on

function enter() {
  table.look("");
  byId("keys").hidden = false;
  byId("play").hidden = false;
  byId("play").setAttribute("aria-pressed", String(Boolean(clock)));
  byId("play").textContent = clock ? _("Stop") : _("Play");
}

async function go(address, { push = true } = {}) {
  const fresh = await page(address);
  const now = fresh.getElementById("facts").dataset;
  if (now.last && Number(now.seq) === Number(facts().seq) + 1) {
    await Promise.race([table.walk(now.last), new Promise((end) => (hurry = end))]);
  }
  swap(fresh, { ready: enter });
  if (push) {
    history.pushState(null, "", address);
  }
  say(`${byId("status").textContent}. ${byId("news").querySelector("p").textContent}`);
}

/** One step after another, however fast they are asked for; if one fails, let the browser go there.
 *  `find` returns the address when its turn has come: "the next one" depends on where the steps before it led. */
function step(find, how) {
  hurry();
  ahead += 1;
  going = going.then(async () => {
    const address = find();
    if (address) {
      await go(address, how).catch(() => location.assign(address));
    }
    ahead -= 1;
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("#steps-nav a, #log a");
  if (link && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    const way = link.closest("#steps-nav") ? link.id : "";
    step(() => (way ? byId(way).href : link.href));
  }
});
document.addEventListener("keydown", (event) => {
  const ways = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
  const inside = event.target.closest("#board, input, textarea, select");
  if (Object.hasOwn(ways, event.key) && !inside && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    step(() => byId(ways[event.key]).href);
  }
});
// Playing by itself: a step every few seconds, until the last one or anything is pressed.
const PAUSE = 2500;
let clock = 0;

function play(on) {
  clearInterval(clock);
  clock = on ? setInterval(forward, PAUSE) : 0;
  byId("play").setAttribute("aria-pressed", String(on));
  byId("play").textContent = on ? _("Stop") : _("Play");
}

function forward() {
  if (ahead) {
    return; // where pages come slowly, steps heaped up would go on when it has been stopped
  }
  const following = byId("next").href;
  if (following) {
    step(() => byId("next").href);
  } else {
    play(false);
  }
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("#play");
  if (pressed || clock) {
    play(Boolean(pressed) && !clock);
  }
});
document.addEventListener("keydown", (event) => {
  if (clock && event.key !== "Shift") {
    play(false);
  }
});
addEventListener("popstate", () => step(() => location.href, { push: false }));
enter();
root.dataset.ready = "yes";
