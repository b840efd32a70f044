// The page of a match, and of its replay: half-made moves, previews, confirming, staying up to date.
//
// This script knows no game. Each game brings static/games/<kind>/table.js, which exports one function:
//
//   mount(host) -> table
//
// What the host gives to the table:
//   host.board             the element that holds the picture; its content is replaced now and then
//   host.view()            the View of the match as it stands (engine/base.py): kind, viewer, moves, table ...
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
//   table.look()           another picture is on the page (a preview, a replay): let places be read, nothing be moved
//   table.back(text)       return the half-made move one step before `text`, "" if there is none
//   table.walk(text)       let the pieces of a whole move walk on the picture as it stands; return a promise
//   table.busy()           whether a piece is held just now

const PULSE = 15; // seconds between two looks at whether anything has changed
const PULSE_SLOWEST = 240;

const byId = (id) => document.getElementById(id);
const root = byId("match");
const facts = () => byId("facts").dataset;
const view = () => JSON.parse(byId("view").textContent);
const say = (text) => (byId("live").textContent = text);

// ---------------------------------------------------------------------------------------------------------------------
// Talking to the server

/** A refusal of the server, or its silence. `since` and `choices` are lists of strings. */
class Problem extends Error {
  constructor({ code, sentence, choices = [], since = [] }) {
    super(sentence);
    Object.assign(this, { code, choices, since });
  }
}

async function ask(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, { ...options, headers: { Accept: "application/json", ...options.headers } });
  } catch {
    throw new Problem({ code: "no-answer", sentence: "The server cannot be reached just now." });
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) {
    return body;
  }
  throw new Problem(body?.error || { code: "internal", sentence: "The server gave no readable answer." });
}

function post(form) {
  const token = document.querySelector('meta[name="csrf-token"]').content;
  return ask(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    headers: { "X-CSRFToken": token },
  });
}

async function page(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok || !found.getElementById("match")) {
    throw new Problem({ code: "internal", sentence: "The page could not be read again." });
  }
  return found;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bringing the page up to date

/** Do something that replaces parts of the page, and put the focus back to where it was. */
function keepingFocus(act) {
  const focused = document.activeElement?.id;
  act();
  if (focused && document.activeElement?.id !== focused) {
    byId(focused)?.focus({ preventScroll: true });
  }
}

/** Put the regions of a page just fetched into this one: all, or only the one named. Open details stay open. */
function swap(fresh, { only = "", ready = () => {} } = {}) {
  const open = [...document.querySelectorAll("details[open][id]")].map((details) => details.id);
  keepingFocus(() => {
    for (const old of document.querySelectorAll(only ? `[data-live="${only}"]` : "[data-live]")) {
      const now = fresh.querySelector(`[data-live="${old.dataset.live}"]`);
      if (now && old.id === "board") {
        old.innerHTML = now.innerHTML; // the frame stays, because the table listens there
      } else if (now) {
        old.replaceWith(document.adoptNode(now));
      }
    }
    open.forEach((id) => byId(id)?.setAttribute("open", ""));
    if (!only) {
      document.title = fresh.title;
      document.querySelector('link[rel="icon"]')?.replaceWith(fresh.querySelector('link[rel="icon"]'));
    }
    ready();
  });
}

/** Count down the time left in the words of the server: its two largest units. */
function countDown() {
  for (const deadline of document.querySelectorAll(".match .deadline")) {
    let left = (new Date(deadline.querySelector("time").dateTime) - Date.now()) / 1000;
    if (left > 0) {
      const parts = Object.entries({ day: 86400, hour: 3600, minute: 60 }).flatMap(([unit, size]) => {
        const count = Math.floor(left / size);
        left %= size;
        return count ? [`${count} ${unit}${count === 1 ? "" : "s"}`] : [];
      });
      deadline.querySelector("b").textContent = `${parts.slice(0, 2).join(" ") || "less than a minute"} left`;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The table

const readout = byId("readout");

function tell(text) {
  readout.textContent = text || readout.dataset.empty;
  readout.classList.toggle("idle", !text);
}

async function mountTable(draft) {
  const { mount } = await import(root.dataset.table);
  return mount({ board: byId("board"), view, draft, tell, say });
}

let keyboard = false; // whether the last thing touched was a key
document.addEventListener("keydown", () => (keyboard = true), true);
document.addEventListener("pointerdown", () => (keyboard = false), true);

// ---------------------------------------------------------------------------------------------------------------------
// A match being played

async function play() {
  const here = root.dataset.here;
  let picture = byId("board").innerHTML; // the board as the match stands
  let previewing = false; // whether the board shows a preview instead
  let latest = 0; // number of the last preview asked for: answers to earlier ones come too late
  let sending = false;

  // The half-made move is kept in the tab, so that it survives a reload: its text; the key that makes a repeated Confirm
  // one move; the number of the row at which it was begun; what is typed but not looked at yet.
  const drawer = `clachan ${here} seat ${facts().seat}`;
  const nothing = { text: "", key: "", expected: "", typed: "" };
  let draft = { ...nothing };
  try {
    draft = { ...nothing, ...JSON.parse(sessionStorage.getItem(drawer)) };
  } catch {
    // Without storage a half-made move lasts as long as the page.
  }

  function keep(change) {
    const renewed = "text" in change && (change.text !== draft.text || draft.expected !== facts().expected);
    draft = { ...draft, ...change, ...(renewed && { key: newKey(), expected: facts().expected }) };
    try {
      sessionStorage.setItem(drawer, JSON.stringify(draft));
    } catch {
      // as above
    }
  }

  const forget = () => keep({ text: "", typed: "" });
  const whole = (text) => view().moves.includes(text);
  const table = await mountTable(onBoard);

  /** The player has changed the half-made move on the board. */
  function onBoard(text, question = "") {
    latest += 1;
    keep({ text, typed: "" });
    byId("write-move").value = "";
    notice("");
    if (whole(text)) {
      preview(text);
    } else if (question) {
      showTrial({ heading: question });
    } else {
      byId("trial").hidden = true;
    }
  }

  // --- what a move would do

  async function preview(text, { walk = true } = {}) {
    const mine = ++latest;
    const question = new URLSearchParams({ move: text, expected: facts().expected });
    if (previewing) {
      restore("");
    }
    try {
      const first = walk && whole(text) && table.walk(text);
      const [trial] = await Promise.all([ask(`${root.dataset.preview}?${question}`), first]);
      if (walk && !first && mine === latest) {
        await table.walk(trial.text);
      }
      if (mine !== latest) {
        return;
      }
      keep({ text: trial.text, typed: "" });
      byId("write-move").value = "";
      previewing = true;
      keepingFocus(() => {
        byId("board").innerHTML = trial.board;
        table.look();
      });
      showTrial({ heading: trial.text, sentences: trial.sentences, move: trial.text });
      say(`${trial.sentences.join(" ")} Confirm it, or start over.`);
      if (keyboard) {
        byId("trial-text").focus(); // not on Confirm: a key held too long must not confirm
      }
    } catch (problem) {
      if (mine === latest) {
        restore();
        showTrial({ heading: text, problem });
      }
    }
  }

  /** Put the board of the match back, with the half-made move on it. Return the question it asks, if any. */
  function restore(text = draft.text) {
    let question = "";
    keepingFocus(() => {
      if (previewing) {
        byId("board").innerHTML = picture;
        previewing = false;
      }
      question = table.enter(whole(text) ? "" : text);
    });
    return question;
  }

  function showTrial({ heading, sentences = [], move = "", problem = null }) {
    byId("trial").hidden = false;
    byId("trial-text").textContent = heading;
    byId("trial-sentences").replaceChildren(...list(sentences));
    const form = byId("confirm");
    form.hidden = !move;
    form.elements.move.value = move;
    form.elements.key.value = draft.key;
    form.elements.expected.value = draft.expected;
    byId("back").hidden = !draft.text || !table.back(draft.text);
    showFault(byId("trial-fault"), problem);
  }

  function showFault(place, problem) {
    place.hidden = !problem;
    place.replaceChildren();
    if (!problem) {
      return;
    }
    const ways = problem.choices.map((choice) => button(choice, () => preview(choice)));
    if (["stale", "not-your-turn", "not-running", "damaged"].includes(problem.code)) {
      ways.push(button("Show the match as it stands", catchUp));
    } else if (problem.code === "not-signed-in") {
      ways.push(link("Sign in", root.dataset.signIn));
    } else if (problem.code === "forged") {
      ways.push(link("Load the page again", here));
    } else if (problem.code === "no-answer" && place.id === "trial-fault" && byId("confirm").hidden) {
      ways.push(button("Try again", () => preview(byId("trial-text").textContent)));
    }
    const since = element("ul");
    since.append(...list(problem.since));
    const row = element("p");
    row.className = "row";
    row.append(...ways);
    place.append(element("p", problem.message));
    if (problem.since.length) {
      place.append(element("p", "Since then:"), since);
    }
    if (ways.length) {
      place.append(row);
    }
    say([problem.message, ...problem.since].join(" "));
  }

  function startOver() {
    latest += 1;
    forget();
    byId("write-move").value = "";
    stepBack();
    say("Started over.");
  }

  function goBack() {
    latest += 1;
    keep({ text: table.back(draft.text) });
    stepBack();
  }

  function stepBack() {
    const question = restore();
    if (question) {
      showTrial({ heading: question });
    } else {
      byId("trial").hidden = true;
    }
    if (keyboard) {
      byId("board").querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
    }
  }

  // --- making it

  async function confirm(form) {
    if (sending) {
      return;
    }
    sending = true;
    latest += 1;
    byId("confirm-button").disabled = true;
    byId("confirm-button").textContent = "Sending …";
    try {
      await made(await post(form));
    } catch (problem) {
      const again = ["no-answer", "busy", "internal", "throttled"].includes(problem.code);
      form.hidden = !again;
      problem.message += again ? " You may confirm again: the move will be made only once." : "";
      showFault(byId("trial-fault"), problem);
    } finally {
      sending = false;
      if (byId("confirm-button")) {
        byId("confirm-button").disabled = false;
        byId("confirm-button").textContent = "Confirm";
      }
    }
  }

  /** Show that a move has been made, in the words that the server read back from the log. */
  async function made(done) {
    forget();
    byId("trial").hidden = true;
    try {
      await refresh();
    } catch {
      location.assign(here);
      return;
    }
    notice(`Your move ${done.text} is made.`, done.sentences);
    byId("notice").focus({ preventScroll: true });
    say(`Your move ${done.text} is made. ${byId("status").textContent}`);
  }

  // --- staying up to date

  /** Show the match as it stands. A half-made move is kept, and shown again if it can still be made. */
  async function refresh() {
    const fresh = await page(here);
    const now = fresh.getElementById("facts").dataset;
    if (!draft.text && now.last && Number(now.seq) === Number(facts().seq) + 1) {
      await table.walk(now.last);
    }
    byId("moved").hidden = true;
    picture = fresh.getElementById("board").innerHTML;
    previewing = false;
    swap(fresh, { ready: enter });
  }

  async function catchUp() {
    try {
      await refresh();
      say(byId("status").textContent);
    } catch (problem) {
      notice(problem.message, [], "bad");
    }
  }

  /** Make a fresh page usable. */
  function enter() {
    countDown();
    if (facts().turn !== "yes") {
      table.look();
      return;
    }
    byId("hint").textContent = table.hint;
    byId("hint").hidden = false;
    byId("write-move").value = draft.typed;
    const moved = draft.text && draft.expected !== facts().expected;
    if (moved) {
      keep({ text: draft.text });
      notice("The match has moved on since you began your move.", [], "calm");
    }
    const question = table.enter(whole(draft.text) ? "" : draft.text);
    if (question) {
      showTrial({ heading: question });
    } else if (draft.text.length && (whole(draft.text) || moved)) {
      preview(draft.text, { walk: false });
    }
  }

  const halfMade = () => facts().turn === "yes" && (draft.text || draft.typed || table.busy() || sending);

  let wait = PULSE;
  let timer = 0;

  /** Look whether anything has changed. A half-made move is never disturbed. */
  async function pulse() {
    clearTimeout(timer);
    if (document.hidden) {
      return;
    }
    try {
      const beat = await ask(root.dataset.pulse);
      const moved = String(beat.seq) !== facts().seq || beat.status !== facts().status;
      if (moved && halfMade()) {
        if (byId("moved").hidden) {
          byId("moved").hidden = false;
          say("The match has moved on.");
        }
      } else if (moved) {
        await refresh();
        say(byId("status").textContent);
      } else if (String(beat.talk) !== facts().talk) {
        await refreshTalk();
      }
      wait = PULSE;
    } catch {
      wait = Math.min(wait * 2, PULSE_SLOWEST);
    }
    clearTimeout(timer);
    timer = setTimeout(pulse, wait * 1000);
  }

  async function refreshTalk() {
    const fresh = await page(here);
    swap(fresh, { only: "talk" });
    facts().talk = fresh.getElementById("facts").dataset.talk;
  }

  // --- talking

  async function speak(form) {
    const pressed = form.querySelector("button");
    if (pressed.disabled) {
      return;
    }
    pressed.disabled = true;
    byId("say-fault").hidden = true;
    form.elements.expected.value = facts().expected;
    try {
      const said = await post(form);
      form.reset();
      form.elements.key.value = newKey();
      if (said.kind === "talk") {
        await refreshTalk();
        say("Said.");
      } else if (said.text) {
        await made(said);
      } else {
        await catchUp();
      }
    } catch (problem) {
      showFault(byId("say-fault"), problem);
    } finally {
      pressed.disabled = false;
    }
  }

  // --- what the player presses

  function notice(text, more = [], kind = "good") {
    byId("notice").className = `notice ${kind}`;
    byId("notice").hidden = !text;
    byId("notice").replaceChildren(...[text, ...more].map((said) => element("p", said)));
  }

  const forms = { confirm, write: () => preview(byId("write-move").value), "start-over": startOver, say: speak };
  const buttons = { back: goBack, "show-moved": catchUp };
  document.addEventListener("submit", (event) => {
    if (Object.hasOwn(forms, event.target.id)) {
      event.preventDefault();
      forms[event.target.id](event.target);
    }
  });
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (pressed && Object.hasOwn(buttons, pressed.id)) {
      buttons[pressed.id]();
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "write-move") {
      keep({ typed: event.target.value });
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && previewing && !sending && !event.defaultPrevented) {
      startOver();
    }
  });
  document.addEventListener("visibilitychange", pulse);

  // The address may name a move, in a link made for browsers without scripts: then the board is not the match's.
  byId("by-links")?.remove();
  const asked = new URLSearchParams(location.search).get("move");
  history.replaceState(null, "", here + location.hash);
  if (asked && facts().turn === "yes") {
    forget();
    await refresh();
    preview(asked);
  } else {
    enter();
  }
  setInterval(countDown, 30_000);
  timer = setTimeout(pulse, wait * 1000);
}

// ---------------------------------------------------------------------------------------------------------------------
// A replay

async function replay() {
  const table = await mountTable(() => {});
  let going = Promise.resolve();

  function enter() {
    table.look();
    byId("keys").hidden = false;
  }

  async function go(address, { push = true } = {}) {
    const fresh = await page(address);
    const now = fresh.getElementById("facts").dataset;
    if (now.last && Number(now.seq) === Number(facts().seq) + 1) {
      await table.walk(now.last);
    }
    swap(fresh, { ready: enter });
    if (push) {
      history.pushState(null, "", address);
    }
    say(`${byId("status").textContent}. ${byId("news").querySelector("p").textContent}`);
  }

  /** One step after another, however fast they are asked for; if one fails, let the browser go there. */
  const step = (address, how) => (going = going.then(() => go(address, how)).catch(() => location.assign(address)));

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#steps-nav a, #log a");
    if (link && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      step(link.href);
    }
  });
  document.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
    const inside = event.target.closest("#board, input, textarea, select");
    if (Object.hasOwn(ways, event.key) && !inside && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      going.then(() => byId(ways[event.key]).href && step(byId(ways[event.key]).href));
    }
  });
  addEventListener("popstate", () => step(location.href, { push: false }));
  enter();
}

// ---------------------------------------------------------------------------------------------------------------------

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function list(sentences) {
  return sentences.map((said) => element("li", said));
}

function link(label, address) {
  const made = element("a", label);
  made.href = address;
  made.className = "button quiet small";
  return made;
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}

function button(label, act) {
  const made = element("button", label);
  made.type = "button";
  made.className = "quiet small";
  made.addEventListener("click", act);
  return made;
}

tell("");
await (root.classList.contains("replay") ? replay() : play());
root.dataset.ready = "yes";
