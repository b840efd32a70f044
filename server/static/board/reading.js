// Reading places and pieces: what is under the mouse, has the focus, is tapped, or is asked about by a right click.

/**
 * Tell of what is pointed at in a part of the page. A click tells as well, and calls `choose` unless Shift was held.
 *
 *   nameAt(element)  the name of what an element belongs to, "" if it is nothing of ours
 *   fact(name)       what is told of it
 *   rest()           what is told while nothing is pointed at
 *   tell(text)       where to tell it
 *   focus(name)      something has got the focus
 *   choose(name)     something was clicked or tapped; "" if it was nothing of ours
 *   quiet()          whether nothing is to be told just now: a piece is dragged, or has just been dropped
 */
export function reading(part, { nameAt, fact, rest, tell, focus, choose, quiet }) {
  part.addEventListener("pointerover", (event) => {
    const name = nameAt(event.target);
    if (name && event.pointerType === "mouse" && !quiet()) {
      tell(fact(name));
    }
  });

  part.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !quiet()) {
      tell(rest());
    }
  });

  part.addEventListener("focusin", (event) => {
    const name = nameAt(event.target);
    if (name) {
      focus(name);
      tell(fact(name));
    }
  });

  part.addEventListener("contextmenu", (event) => {
    const name = nameAt(event.target);
    if (name) {
      event.preventDefault();
      tell(fact(name));
    }
  });

  // The second click of a double click is none: it would undo the first.
  part.addEventListener("click", (event) => {
    const name = nameAt(event.target);
    if (quiet() || event.detail > 1) {
      return;
    }
    if (name) {
      tell(fact(name));
    }
    if (!event.shiftKey) {
      choose(name);
    }
  });
}
