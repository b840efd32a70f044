// Small comforts; every page works without them.
"use strict";

// Preselect the browser's time zone where a form asks for one.
for (const select of document.querySelectorAll("select[data-guess-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === zone)) {
    select.value = zone;
  }
}

// A form that opens a table shows the rules of the game that is chosen only.
const game = document.querySelector("form select[name=game]");
function showRules() {
  for (const rules of document.querySelectorAll("[data-for-game]")) {
    rules.hidden = rules.dataset.forGame !== game.value;
  }
}
if (game) {
  game.addEventListener("change", showRules);
  showRules();
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
        button.textContent = "Copied";
      } catch {
        button.hidden = true; // the field is selected, so the keyboard can copy it
      }
    });
  }
}
