// Dragging pieces with mouse, pen or finger.

const FAR = 6; // pixels a pointer travels before it drags

/**
 * Let pieces be dragged; Escape takes them back. One that is pressed and not moved is not dragged: a click follows,
 * which is somebody else's.
 *
 *   lift(piece, at)          it begins to move
 *   move(piece, at, finger)  the pointer is at { x, y } in the window; `finger` says that it hides what is under it
 *   drop(piece, at)          it is let go of, there; `at` is null if the browser, or Escape, took it away
 */
export function dragging({ lift, move, drop }) {
  let held = null; // { piece, part, id, from, moved, finger }
  let ended = false; // whether the click that follows ends a drag

  const where = (event) => ({ x: event.clientX, y: event.clientY });
  const ours = (event) => held !== null && event.pointerId === held.id;

  function end(at) {
    const { piece, moved } = held;
    held = null;
    if (moved) {
      ended = true;
      drop(piece, at);
    }
  }

  /** The pointer is up again: the click that ends a drag follows at once, or not at all. */
  function release(event, at) {
    if (ours(event)) {
      end(at);
    }
    setTimeout(() => (ended = false));
  }

  document.addEventListener("pointermove", (event) => {
    if (!ours(event)) {
      return;
    }
    const at = where(event);
    if (!held.moved && Math.hypot(at.x - held.from.x, at.y - held.from.y) >= FAR) {
      held.moved = true;
      held.part.setPointerCapture(event.pointerId);
      lift(held.piece, at);
    }
    if (held?.moved) {
      move(held.piece, at, held.finger);
    }
  });
  document.addEventListener("pointerup", (event) => release(event, where(event)));
  document.addEventListener("pointercancel", (event) => release(event, null));
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Escape" && held?.moved) {
        event.preventDefault();
        event.stopPropagation();
        end(null);
      }
    },
    true,
  );

  return {
    /** Be ready to drag a piece, because the pointer was pressed on it; `part` stays on the page meanwhile. */
    grab(event, part, piece) {
      if (event.button === 0 && event.isPrimary && !event.shiftKey && !held) {
        const finger = event.pointerType !== "mouse";
        held = { piece, part, id: event.pointerId, from: where(event), moved: false, finger };
      }
    },

    busy: () => held !== null,
    quiet: () => held !== null || ended,
  };
}
