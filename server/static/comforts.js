// Small comforts; every page works without them.
"use strict";

// Preselect the browser's time zone where a form asks for one.
for (const select of document.querySelectorAll("select[data-guess-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === zone)) {
    select.value = zone;
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
        button.textContent = "Copied";
      } catch {
        button.hidden = true; // the field is selected, so the keyboard can copy it
      }
    });
  }
}
