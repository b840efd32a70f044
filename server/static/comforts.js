// Small comforts; every page works without them.

import { count } from "./counts.js";
import { follow } from "./pulse.js";
import { _ } from "./words.js";

// Preselect the browser's time zone where a form asks for one, and send it along where none is asked for.
for (const field of document.querySelectorAll("[data-guess-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const named = ({ value, dataset }) => [value, ...(dataset.also || "").split(" ")].includes(zone);
  if (field.options) {
    field.value = [...field.options].find(named)?.value ?? field.value;
  } else {
    field.value = zone || "";
  }
}

// A part of a form that matters only for some values of another field is hidden, and not sent, while it does not:
// data-when="field=one other" or data-unless="field=one other"; nothing behind the = is the empty value.
function has(form, condition) {
  const [name, values] = condition.split("=");
  return values.split(" ").includes(form.elements[name].value);
}

for (const form of document.forms) {
  const parts = [...form.querySelectorAll("[data-when], [data-unless]")];
  const choose = () => {
    for (const part of parts) {
      const { when, unless } = part.dataset;
      part.hidden = Boolean((when && !has(form, when)) || (unless && has(form, unless)));
    }
    for (const part of parts) {
      for (const control of part.querySelectorAll("input, select")) {
        control.disabled = control.closest("[hidden]") !== null;
      }
    }
  };
  if (parts.length) {
    form.addEventListener("input", choose);
    addEventListener("pageshow", choose); // the browser may have filled it in again
    choose();
  }
}

// Buttons that copy a field's text, shown only where that can be done.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
        button.textContent = _("Copied");
      } catch {
        button.hidden = true; // the field is selected, so the keyboard can copy it
      }
    });
  }
}

// How many matches await the reader is told while the page is open; the page of a match hears of it by itself.
const { stream, pulse } = document.body.dataset;
if (stream && !document.getElementById("match")?.dataset.stream) {
  let rows = null;
  const home = document.getElementById("home");
  const listed = Number(document.querySelector('[data-live="waiting"]')?.dataset.count);
  follow({
    stream,
    pulse,
    every: () => 30,
    heard(beat) {
      count(beat.waiting);
      // Before the first numbers come something may have happened already since the page was written.
      const moved = rows === null ? beat.waiting !== listed : rows !== `${beat.waiting} ${beat.rows}`;
      if (home && moved && !document.hidden) {
        refreshHome();
      }
      if (rows === null || !document.hidden) {
        rows = `${beat.waiting} ${beat.rows}`;
      }
    },
  });
}

/** Show the list of matches as it is now, unless somebody is at work in it. */
async function refreshHome() {
  const main = document.getElementById("main");
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  const busy = main !== document.activeElement && main.contains(document.activeElement);
  if (fresh && fresh.getElementById("home") && !busy) {
    const said = main.querySelector(".messages");
    document.title = fresh.title;
    main.replaceChildren(...(said ? [said] : []), ...document.adoptNode(fresh.getElementById("main")).childNodes);
  }
}
