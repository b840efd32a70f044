// The keyboard on a board: of all its places, or all cards of a hand, the Tab key reaches one; arrow keys, and names as
// they are typed, lead from one to the other. Enter and the space bar choose, Escape goes back.

const PAUSE = 1200; // milliseconds after which typing begins anew

/** Whether the last thing touched was a key: what a key has begun goes on by keys. */
export let byKey = false;
document.addEventListener("keydown", () => (byKey = true), true);
document.addEventListener("pointerdown", () => (byKey = false), true);

/** The one among some elements that the Tab key reaches. `find` gives the element of a name. */
export function tabStop(find, name = "") {
  return {
    get name() {
      return name;
    },

    /** Make an element the one. */
    move(next) {
      find(name)?.setAttribute("tabindex", "-1");
      name = next;
      find(name)?.setAttribute("tabindex", "0");
    },

    /** Mark a fresh element: it is the one, or it is not. */
    mark(element, its) {
      element.setAttribute("tabindex", its === name ? "0" : "-1");
    },
  };
}

/**
 * Listen to the keys in a part of the page.
 *
 *   nameAt(element)    the name of what has the focus, "" if it is nothing of ours
 *   step(name, key)    an arrow key, Home or End: go where it leads
 *   choose(name)       Enter or the space bar
 *   back(name)         Escape: go back a step; return whether there was one
 *   spell(text, name)  a letter or a digit, with those typed just before it; return whether it led anywhere
 */
export function listen(part, { nameAt, step, choose, back, spell }) {
  let typed = { text: "", at: 0 };

  part.addEventListener("keydown", (event) => {
    const name = nameAt(event.target);
    if (name && !event.ctrlKey && !event.metaKey && !event.altKey && act(name, event)) {
      event.preventDefault();
    }
  });

  function act(name, event) {
    const { key } = event;
    if (/^(Arrow.*|Home|End)$/.test(key)) {
      step(name, key);
    } else if (key === "Enter" || key === " ") {
      if (!event.repeat) {
        choose(name);
      }
    } else if (key === "Escape") {
      return back(name);
    } else if (/^[a-z0-9]$/i.test(key)) {
      const text = (event.timeStamp - typed.at < PAUSE ? typed.text : "") + key.toUpperCase();
      typed = { text, at: event.timeStamp };
      return spell(text, name);
    } else {
      return false;
    }
    return true;
  }
}
