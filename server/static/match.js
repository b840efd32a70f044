// The page of a match: half-made moves, previews, confirming, staying up to date, table talk.
// It knows no game: live.js tells how a game's own table.js takes part.

import { byKey } from "./board/stops.js";
import { count } from "./counts.js";
import * as live from "./live.js";
import { follow } from "./pulse.js";
import { _ } from "./words.js";

const { ask, button, byId, countDown, element, facts, keepingFocus, link, list } = live;
const { mountTable, newKey, page, post, root, say, swap, view } = live;

const PULSE = 15; // seconds between two looks at whether anything has changed, while no stream tells
const PULSE_BOT = 3; // while a bot is awaited, which answers soon
const WALK = 3000; // milliseconds after which a move that walks on the picture is waited for no longer
const PAUSE = 350; // milliseconds until Confirm can be pressed: the second tap of a pair that made the move is no answer

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
    return;
  }
  const asked = previewing ? restore() : question;
  if (asked) {
    showTrial({ heading: asked });
  } else {
    byId("trial").hidden = true;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What a move would do

async function preview(text, { walk = true } = {}) {
  const mine = ++latest;
  byId("confirm-button")?.toggleAttribute("disabled", true); // it may still be that of another move
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
      table.look(trial.text);
    });
    showTrial({ heading: trial.text, sentences: trial.sentences, move: trial.text });
    say([...trial.sentences, _("Confirm it, or start over.")].join(" "));
    if (byKey) {
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
  const more = move && table.more ? table.more(move) : [];
  byId("trial-more").replaceChildren(...more);
  byId("trial-more").hidden = !more.length;
  const form = byId("confirm");
  form.hidden = !move;
  byId("confirm-button").disabled = true;
  setTimeout(() => (byId("confirm-button")?.toggleAttribute("disabled", sending)), byKey ? 0 : PAUSE);
  byId("trial-lead").hidden = !move;
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
    ways.push(button(_("Show the match as it stands"), catchUp));
  } else if (problem.code === "not-signed-in") {
    ways.push(link(_("Sign in"), root.dataset.signIn));
  } else if (problem.code === "forged") {
    ways.push(link(_("Load the page again"), here));
  } else if (problem.code === "no-answer" && place.id === "trial-fault" && byId("confirm").hidden) {
    ways.push(button(_("Try again"), () => preview(byId("trial-text").textContent)));
  }
  const since = element("ul");
  since.append(...list(problem.since));
  const row = element("p");
  row.className = "row";
  row.append(...ways);
  place.append(element("p", problem.message));
  if (problem.since.length) {
    place.append(element("p", _("Since then:")), since);
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
  say(_("Started over."));
  hearAgain();
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
  if (byKey) {
    byId("board").querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Making it

async function confirm(form) {
  if (sending) {
    return;
  }
  sending = true;
  latest += 1;
  byId("confirm-button").disabled = true;
  byId("confirm-button").textContent = _("Sending …");
  try {
    await made(await post(form));
  } catch (problem) {
    const again = ["no-answer", "busy", "internal", "throttled"].includes(problem.code);
    if (!again) {
      showTrial({ heading: byId("trial-text").textContent });
      byId("back").hidden = true;
    }
    if (again) {
      problem.message = [problem.message, _("You may confirm again: the move will be made only once.")].join(" ");
    }
    showFault(byId("trial-fault"), problem);
  } finally {
    sending = false;
    hearAgain();
    if (byId("confirm-button")) {
      byId("confirm-button").disabled = false;
      byId("confirm-button").textContent = _("Confirm");
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
  const told = _("Your move {text} is made.", { text: done.text });
  notice(told, done.sentences);
  byId("notice").focus({ preventScroll: true });
  say(`${told} ${byId("status").textContent}`);
}

// ---------------------------------------------------------------------------------------------------------------------
// Staying up to date

/**
 * Show the match as it stands. A half-made move is kept, and shown again if it can still be made. Return whether it was
 * done: not if `unless` says so, when the page has come.
 */
async function refresh({ unless = () => false } = {}) {
  const fresh = await page(here);
  if (unless()) {
    return false;
  }
  const now = fresh.getElementById("facts").dataset;
  if (!draft.text && now.last && Number(now.seq) === Number(facts().seq) + 1) {
    await Promise.race([table.walk(now.last), new Promise((end) => setTimeout(end, WALK))]);
  }
  byId("moved").hidden = true;
  picture = fresh.getElementById("board").innerHTML;
  previewing = false;
  swap(fresh, { ready: enter });
  return true;
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
    table.look("");
    return;
  }
  byId("hint").textContent = table.hint;
  byId("hint").hidden = false;
  byId("write-move").value = draft.typed;
  const moved = draft.text && draft.expected !== facts().expected;
  if (moved && !table.back(draft.text)) {
    forget(); // hardly begun
  } else if (moved) {
    keep({ text: draft.text });
    notice(_("The match has moved on since you began your move."), [], "calm");
  }
  const question = table.enter(whole(draft.text) ? "" : draft.text);
  if (question) {
    showTrial({ heading: question });
  } else if (whole(draft.text) || (draft.text && moved)) {
    preview(draft.text, { walk: false }); // a move that has become impossible is told why
  }
}

const halfMade = () => facts().turn === "yes" && (draft.text || draft.typed || table.busy() || sending);

let newest = null; // the numbers heard last
let bringing = Promise.resolve(); // one change after another is brought onto the page

/** Hear whether anything has changed. A half-made move is never disturbed, and what nobody looks at is not seen. */
function hear(beat) {
  newest = beat;
  count(beat.waiting);
  if (!document.hidden && !sending) {
    bringing = bringing.catch(() => {}).then(() => bring(beat));
  }
  return bringing;
}

/** What was heard during a half-made move may be shown now that there is none. */
const hearAgain = () => newest && hear(newest).catch(() => {});

async function bring(beat) {
  const ahead = beat.seq - Number(facts().seq);
  const moved = ahead > 0 || (ahead === 0 && beat.status !== facts().status);
  if (moved && halfMade()) {
    if (byId("moved").hidden) {
      byId("moved").hidden = false;
      say(_("The match has moved on."));
    }
  } else if (moved) {
    if (await refresh({ unless: halfMade })) {
      say(byId("status").textContent);
    }
  } else if (String(beat.talk) !== facts().talk) {
    await refreshTalk();
  }
}

async function refreshTalk() {
  const fresh = await page(here);
  swap(fresh, { only: ["talk"] });
  facts().talk = fresh.getElementById("facts").dataset.talk;
}

/** Count the clocks down; when one has stopped or runs again, show it as it stands. */
async function tick() {
  if (countDown() && !document.hidden) {
    const fresh = await page(here).catch(() => null);
    if (fresh) {
      swap(fresh, { only: ["head", "decisions", "time"], ready: countDown });
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Talking

async function speak(form) {
  const pressed = form.querySelector("button");
  if (pressed.disabled) {
    return;
  }
  pressed.disabled = true;
  byId("say-fault").hidden = true;
  byId("say-told").hidden = true;
  form.elements.expected.value = facts().expected;
  try {
    const said = await post(form);
    form.reset();
    form.elements.key.value = newKey();
    if (said.kind === "talk") {
      await refreshTalk();
      say(_("Said."));
    } else if (said.text) {
      await made(said);
    } else if (["/help", "/status"].includes(said.kind)) {
      byId("say-told").replaceChildren(...said.sentences.map((sentence) => element("p", sentence)));
      byId("say-told").hidden = false;
    } else {
      await catchUp();
      notice(said.sentences.join(" "));
    }
  } catch (problem) {
    showFault(byId("say-fault"), problem);
  } finally {
    pressed.disabled = false;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What the player presses

function notice(text, more = [], kind = "good") {
  byId("notice").className = `notice ${kind}`;
  byId("notice").hidden = !text;
  const told = element("p", [" ", ...more].join(" "));
  told.prepend(element("b", text));
  byId("notice").replaceChildren(told);
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
    (draft.text && table.back(draft.text) ? goBack : startOver)();
  }
});

// The address may name a move, in a link made for browsers without scripts: then the board is not the match's.
if (table.hint) {
  byId("by-links")?.remove(); // a game without a table of its own is played by them
}
const asked = new URLSearchParams(location.search).get("move");
history.replaceState(null, "", here + location.hash);
if (asked && facts().turn === "yes") {
  forget();
  await refresh();
  preview(asked);
} else {
  enter();
}
setInterval(tick, 30_000);
follow({
  stream: root.dataset.stream,
  pulse: root.dataset.pulse,
  every: () => (facts().bot === "yes" ? PULSE_BOT : PULSE),
  heard: hear,
});
root.dataset.ready = "yes";
