// How much waits for the reader, turns, invitations and ends he has not seen: in the page's title, icon and head.

import { ngettext } from "./words.js";

const icon = () => document.querySelector('link[rel="icon"]');
const { plain, counted } = icon()?.dataset ?? {};

/** Show the number. */
export function count(number) {
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = number ? `(${number}) ${title}` : title;
  const address = number ? counted?.replace("NUMBER", Math.min(number, 99)) : plain;
  if (icon() && address && icon().getAttribute("href") !== address) {
    const fresh = icon().cloneNode(); // some browsers look at an icon once
    fresh.href = address;
    icon().replaceWith(fresh);
  }
  for (const place of document.querySelectorAll('[data-live="waiting"]')) {
    if (Number(place.dataset.count) !== number) {
      place.dataset.count = number;
      place.replaceChildren(...(number ? [badge(number)] : []));
    }
  }
}

function badge(number) {
  const made = document.createElement("span");
  const shown = document.createElement("span");
  const said = document.createElement("span");
  made.className = "count";
  shown.textContent = number;
  shown.ariaHidden = "true";
  said.className = "unseen";
  const words = ngettext("{n} waiting for you", "{n} waiting for you", number);
  said.textContent = ` (${words})`;
  made.append(shown, said);
  return made;
}
