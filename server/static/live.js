// What the pages of a match share: talking to the server, bringing the page up to date, and the table of the game.
//
// No script of the house knows a game. Each game brings static/games/<kind>/table.js, which exports one function:
//
//   mount(host) -> table
//
// What the host gives to the table:
//   host.board             the element that holds the picture; its content is replaced now and then
//   host.hand              the element that holds what the game shows beside the picture (games/<kind>/hand.html), empty
//                          if it has no such template; its content is replaced as well
//   host.view()            the View of the match as it stands (engine/base.py): kind, viewer, moves, table ...
//   host.names()           the display names in seat order
//   host.made()            the moves made so far, oldest first: { seat, text }, as the viewer may read them
//   host.draft(text, ask)  the player has changed the half-made move. A text out of view().moves is a whole move and is
//                          previewed; any other text is remembered as it is; "" means there is none. `ask` is a question
//                          to show meanwhile, if one must be answered on the board.
//   host.tell(text)        show the facts of one place below the picture; "" when no place is pointed at
//   host.say(text)         tell a screen reader
//
// What the table gives to the host:
//   table.hint             one sentence: how a move is made on this board
//   table.enter(text)      a fresh picture of the match is on the page: let moves be made, show the half-made move `text`;
//                          return the question it asks, "" if none
//   table.look(text)       another picture is on the page: let places be read, nothing be moved. `text` is the whole
//                          move that it previews, "" if none; only then the table may change the half-made move
//   table.back(text)       return the half-made move one step before `text`, "" if there is none
//   table.walk(text)       let the pieces of a whole move walk on the picture as it stands; return a promise
//   table.busy()           whether a piece is held just now
//   table.more(text)       (optional) elements to show with the preview of the whole move `text`: ways to add to it

import { _, ngettext } from "./words.js";

export const byId = (id) => document.getElementById(id);
export const root = byId("match");
export const facts = () => byId("facts").dataset;
export const view = () => JSON.parse(byId("view").textContent);
export const names = () => JSON.parse(facts().names);

const HEARD = 20_000; // milliseconds after which what was said is not met again by whoever reads on

let saying = 0;

/** Tell a screen reader. */
export function say(text) {
  clearTimeout(saying);
  byId("live").textContent = text;
  saying = setTimeout(() => (byId("live").textContent = ""), HEARD);
}

// ---------------------------------------------------------------------------------------------------------------------
// Talking to the server

/** A refusal of the server, or its silence. `since` and `choices` are lists of strings. */
export class Problem extends Error {
  constructor({ code, sentence, choices = [], since = [] }) {
    super(sentence);
    Object.assign(this, { code, choices, since });
  }
}

export async function ask(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, { ...options, headers: { Accept: "application/json", ...options.headers } });
  } catch {
    throw new Problem({ code: "no-answer", sentence: _("The server cannot be reached just now.") });
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) {
    return body;
  }
  throw new Problem(body?.error || { code: "internal", sentence: _("The server gave no readable answer.") });
}

export function post(form) {
  const token = document.querySelector('meta[name="csrf-token"]').content;
  return ask(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    headers: { "X-CSRFToken": token },
  });
}

export async function page(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok || !found.getElementById("match")) {
    throw new Problem({ code: "internal", sentence: _("The page could not be read again.") });
  }
  return found;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bringing the page up to date

/** Do something that replaces parts of the page, and put the focus back to where it was. */
export function keepingFocus(act) {
  const focused = document.activeElement?.id;
  act();
  if (focused && document.activeElement?.id !== focused) {
    byId(focused)?.focus({ preventScroll: true });
  }
}

/** Put the regions of a page just fetched into this one: all, or only those named. Open details stay open, and what is
    typed stays. */
export function swap(fresh, { only = [], ready = () => {} } = {}) {
  const open = [...document.querySelectorAll("details[open][id]")].map((details) => details.id);
  const typed = [...document.querySelectorAll("[data-live] input[id]")].filter((it) => it.value !== it.defaultValue);
  keepingFocus(() => {
    for (const old of document.querySelectorAll("[data-live]")) {
      const name = old.dataset.live;
      const now = (!only.length || only.includes(name)) && fresh.querySelector(`[data-live="${name}"]`);
      if (now && ["board", "hand"].includes(old.id)) {
        old.innerHTML = now.innerHTML; // the frame stays, because the table listens there
      } else if (now) {
        old.replaceWith(document.adoptNode(now));
      }
    }
    open.forEach((id) => byId(id)?.setAttribute("open", ""));
    typed.forEach(({ id, value }) => byId(id) && (byId(id).value = value));
    if (!only.length) {
      document.title = fresh.title;
      document.querySelector('link[rel="icon"]')?.replaceWith(fresh.querySelector('link[rel="icon"]'));
    }
    ready();
  });
}

const shown = new WeakMap(); // a clock on the page -> when its numbers came

/** Count the time left down, in the words of the server, where a clock runs. Return whether a clock has stopped or has
    begun to run since its numbers came: when it does, the server has said. */
export function countDown() {
  let turned = false;
  for (const clock of document.querySelectorAll(".match .deadline[data-left]")) {
    if (!shown.has(clock)) {
      shown.set(clock, Date.now());
    }
    const passed = (Date.now() - shown.get(clock)) / 1000;
    const steady = Number(clock.dataset.steady || Infinity);
    const left = Number(clock.dataset.left) - (clock.classList.contains("stands") ? 0 : Math.min(passed, steady));
    clock.querySelector("b").textContent = left > 0 ? _("{left} left", { left: span(left) }) : _("Time is up");
    turned ||= passed > steady;
  }
  return turned;
}

/** Return the two largest units of some seconds, rounded down, as server/wording.py writes them. */
function span(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  const parts = [
    days && ngettext("{n} day", "{n} days", days),
    hours && ngettext("{n} hour", "{n} hours", hours),
    minutes && ngettext("{n} minute", "{n} minutes", minutes),
  ];
  return parts.filter(Boolean).slice(0, 2).join(" ") || _("less than a minute");
}

// ---------------------------------------------------------------------------------------------------------------------
// The table

const readout = byId("readout");

function tell(text) {
  readout.textContent = text || readout.dataset.empty;
  readout.classList.toggle("idle", !text);
}

function made() {
  return [...document.querySelectorAll("#log [data-text]")]
    .map(({ dataset }) => ({ seq: Number(dataset.seq), seat: Number(dataset.seat), text: dataset.text }))
    .filter(({ seq }) => seq <= Number(facts().seq))
    .sort((one, other) => one.seq - other.seq);
}

export async function mountTable(draft) {
  tell("");
  const { mount } = await import(root.dataset.table);
  return mount({ board: byId("board"), hand: byId("hand"), view, names, made, draft, tell, say });
}

// ---------------------------------------------------------------------------------------------------------------------
// Small pieces of a page

export function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

export function list(sentences) {
  return sentences.map((said) => element("li", said));
}

export function link(label, address) {
  const made = element("a", label);
  made.href = address;
  made.className = "button quiet small";
  return made;
}

export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}

export function button(label, act) {
  const made = element("button", label);
  made.type = "button";
  made.className = "quiet small";
  made.addEventListener("click", act);
  return made;
}
