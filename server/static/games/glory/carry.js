// Dragging cards and shields of Clans and Glory: they follow the pointer above the page; at its edges the row scrolls.

import { dragging } from "../../board/drag.js";
import { nearest } from "../../board/motion.js";
import { isPlace } from "./moves.js";

const NEAR = 80; // units of the picture by which a dragged piece may miss its target
const EDGE = 48; // pixels from the edge of the row within which a dragged piece makes it scroll
const BESIDE = 30; // pixels by which it may be above or below the row and still be meant for it

/**
 * Let pieces be carried: { card } or, for a shield, {}.
 *
 *   goals(piece)         the names of where it may go
 *   symbol(piece)        the drawing that follows the pointer
 *   tellOf(piece, aim)   what is told meanwhile; `aim` is "" while it is over nothing
 *   lift(piece)          it begins to move
 *   drop(piece, aim)     it is let go of
 */
export function carrying(host, { row, flight, goals, symbol, tellOf, lift, drop }) {
  const { board } = host;
  let scrolling = 0; // the animation frame that scrolls the row under a dragged piece

  /** What a piece would go to: the goal under the pointer, or the one that it has only just missed. */
  function aimedAt(piece, { x, y }) {
    const frame = board.getBoundingClientRect();
    if (y < frame.top - BESIDE || y > frame.bottom + BESIDE) {
      return "";
    }
    const under = row.nameAt(document.elementFromPoint(x, y));
    // A shield goes to a place, and the spots of a place belong to it.
    const meant = under && !piece.card && !isPlace(under) ? `place ${row.node(under).dataset.place}` : under;
    if (meant) {
      return goals(piece).includes(meant) ? meant : "";
    }
    return nearest(goals(piece), row.middle, row.at({ x, y }), NEAR);
  }

  /** The part of the row that is under the pointer scrolls on while a piece is held at its edge. */
  function scroll({ x, y }, again) {
    const frame = board.getBoundingClientRect();
    const inside = y > frame.top - 20 && y < frame.bottom + 20;
    const [left, right] = [Math.max(frame.left, 0) + EDGE, Math.min(frame.right, innerWidth) - EDGE];
    const by = inside ? Math.min(0, x - left) || Math.max(0, x - right) : 0;
    cancelAnimationFrame(scrolling);
    if (by) {
      scrolling = requestAnimationFrame(() => {
        board.scrollLeft += by / 5;
        again();
      });
    }
  }

  const aim = (name) => row.names().forEach((one) => row.node(one).classList.toggle("over", one === name));

  function follow(piece, at, finger) {
    flight.hold({ x: at.x, y: at.y - (finger ? 44 : 6) }); // so that a finger does not hide what it holds
    const over = aimedAt(piece, at);
    aim(over);
    host.tell(tellOf(piece, over));
    scroll(at, () => follow(piece, at, finger));
  }

  const drag = dragging({
    lift({ source, ...piece }, at) {
      source.classList.add("dragged");
      lift(piece);
      flight.raise(symbol(piece), at);
    },

    move: follow,

    drop({ source, ...piece }, at) {
      cancelAnimationFrame(scrolling);
      source.classList.remove("dragged");
      const over = at ? aimedAt(piece, at) : "";
      aim("");
      if (!over) {
        flight.clear();
      }
      drop(piece, over);
    },
  });

  return {
    ...drag,
    grab: (event, source, piece) => drag.grab(event, source, { ...piece, source }),
  };
}
