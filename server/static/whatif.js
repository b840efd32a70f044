// Trying moves out: what is moved on the board is added to the line, by loading the page of the longer line.

import { byId, facts, mountTable, root, view } from "./live.js";

const table = await mountTable(draft);
const playable = facts().turn === "yes";

/** The player has changed a half-made move: a whole one is added to the line. */
function draft(text, question = "") {
  const asked = byId("question");
  if (asked) {
    asked.textContent = question;
    asked.hidden = !question;
  }
  if (view().moves.includes(text)) {
    const address = new URL(root.dataset.add, location.href);
    address.searchParams.set("moves", [address.searchParams.get("moves"), text].filter(Boolean).join(","));
    location.assign(address);
  }
}

if (playable) {
  table.enter("");
  byId("hint").textContent = table.hint;
  byId("hint").hidden = !table.hint;
} else {
  table.look("");
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && playable && !event.defaultPrevented) {
    draft("");
    table.enter("");
  }
});
root.dataset.ready = "yes";
