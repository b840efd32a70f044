// A card or a shield on its way above the page: following the pointer, or flying to where it is laid.

import { animate, still, toWindow } from "../../board/motion.js";

const CARD = { x: 47, y: 67 }; // half the size of the drawings, in units of the picture
const SHIELD = { x: 31, y: 31 };

const into = ({ x, y }) => `translate(${x}px, ${y}px) translate(-50%, -50%)`;

/** Where the middle of an element is in the window. */
export function centre(element) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}

export function flights(row) {
  let ghost = null;

  function clear() {
    ghost?.remove();
    ghost = null;
  }

  /** Put a drawing above the page, of the size that it has on the row. */
  function raise(symbol, at) {
    clear();
    const scale = row.svg().getBoundingClientRect().width / row.svg().viewBox.baseVal.width;
    const { x, y } = symbol.startsWith("shield") ? SHIELD : CARD;
    ghost = document.createElement("div");
    ghost.className = "glory-ghost";
    ghost.setAttribute("aria-hidden", "true");
    ghost.innerHTML = `<svg viewBox="${-x} ${-y} ${2 * x} ${2 * y}"><use href="#glory-${symbol}"/></svg>`;
    ghost.style.width = `${2 * x * scale}px`;
    document.body.append(ghost);
    hold(at);
  }

  const hold = (at) => (ghost.style.transform = into(at));

  return {
    raise,
    hold,
    clear,
    /** Where what is above the page is, null if nothing is. */
    at: () => ghost && centre(ghost),

    /** Let a drawing fly from a point of the window to a point of the picture, and lie there. */
    async fly(symbol, from, to) {
      if (!still()) {
        const end = toWindow(row.svg(), to);
        raise(symbol, from);
        const way = Math.hypot(end.x - from.x, end.y - from.y);
        const duration = Math.min(450, 140 + way / 2);
        const frames = [{ transform: into(from) }, { transform: into(end) }];
        await animate(ghost, frames, { duration, easing: "ease-in-out", fill: "forwards" });
      }
      row.lay(symbol, to);
      clear();
    },
  };
}
