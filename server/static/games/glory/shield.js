// What is shown with a whole move of Clans and Glory: a button that puts a shield on top, or takes it back.

import { _ } from "../../words.js";
import { other, placeOf } from "./moves.js";

/** Return the elements to show with a whole move of a seat. */
export function shieldWays(move, { rules, carry, crown, seat }) {
  if (!rules.has(other(move))) {
    const none = document.createElement("span");
    none.className = "faint";
    none.textContent = _("You have no shield left to put there.");
    return [none];
  }
  const button = document.createElement("button");
  const place = placeOf(move.spot);
  const icon = `<use href="#glory-shield-${seat + 1}"/>`;
  button.type = "button";
  button.id = "with-shield";
  button.className = "quiet small";
  button.innerHTML = `<svg class="shield-icon" viewBox="-31 -31 62 62" aria-hidden="true">${icon}</svg>`;
  button.append(" ", move.shield ? _("Take the shield back") : _("Put a shield on place {place}", { place }));
  button.addEventListener("pointerdown", (event) => !move.shield && carry.grab(event, button, {}));
  button.addEventListener("click", () => !carry.quiet() && crown());
  return [button];
}
