// The row of Clans and Glory as it lies on the page: its spots and places, what lies there, and how it scrolls. The
// hooks of the picture are those of pieces.py.

import { animate, drawing, still, toPicture, toWindow } from "../../board/motion.js";
import { isPlace, number, placeOf, WIDE } from "./moves.js";

const SLACK = 4; // pixels by which the row may stick out without anybody's missing something

export function row(host) {
  const { board } = host;
  let nodes = new Map(); // "N7" or "place 3" -> its element
  let cards = new Map(); // spot -> the card that lies there face up
  let column = 2; // where the arrow keys came from when they went to a place
  let turned = true; // whether the stacks of a match that is over have been turned

  const svg = () => board.querySelector("svg");
  const node = (name) => nodes.get(name);
  const middle = (name) => ({ x: Number(node(name).dataset.x), y: Number(node(name).dataset.y) });
  const count = (kind) => [...nodes.keys()].filter((name) => isPlace(name) === (kind === "place")).length;
  /** The shields of a place, first placed first. */
  const shields = (place) => [...board.querySelectorAll(`.shield[data-place="${place}"]`)].reverse();

  function nameAt(element) {
    const found = element?.closest?.(".spot, .place");
    return found ? found.dataset.spot || `place ${found.dataset.place}` : "";
  }

  /** How far a spot or place sticks out of the visible part of the row: to the left below 0, to the right above. */
  function outside(name, room = 0) {
    const frame = board.getBoundingClientRect();
    const box = node(name).querySelector(".shape").getBoundingClientRect();
    if (box.width + 2 * room > frame.width) {
      return (box.left + box.right - frame.left - frame.right) / 2;
    }
    return Math.min(0, box.left - room - frame.left) || Math.max(0, box.right + room - frame.right);
  }

  /** Tell at the edges of the row whether it goes on there, and how many lit spots lie beyond. */
  function countOutside() {
    const { scrollLeft, scrollWidth, clientWidth } = board;
    board.classList.toggle("more-before", scrollLeft > SLACK);
    board.classList.toggle("more-after", scrollLeft + clientWidth < scrollWidth - SLACK);
    const lit = [...nodes.keys()].filter((name) => node(name).classList.contains("target"));
    const { dataset } = board.parentNode;
    const edges = { moreLeft: (by) => by < -20, moreRight: (by) => by > 20 };
    for (const [edge, beyond] of Object.entries(edges)) {
      const hidden = lit.filter((name) => beyond(outside(name))).length;
      if (hidden) {
        dataset[edge] = hidden;
      } else {
        delete dataset[edge];
      }
    }
  }

  board.addEventListener("scroll", countOutside, { passive: true });
  addEventListener("resize", () => nodes.size && countOutside());

  /** When a match is over its stacks are turned over: the shield placed first comes first. */
  function turnStacks() {
    const over = Boolean(host.view().outcome);
    if (over && !turned) {
      board.scrollIntoView({ block: "nearest", behavior: still() ? "instant" : "smooth" });
      for (let place = 1; nodes.has(`place ${place}`); place += 1) {
        shields(place).forEach((one, at) => {
          const timing = { duration: 360, delay: 300 + place * 200 + at * 140, easing: "ease-out", fill: "backwards" };
          const { e, f } = one.transform.baseVal.consolidate().matrix;
          const frames = [1, 0, 1].map((side) => ({ transform: `translate(${e}px, ${f}px) scale(${side}, 1)` }));
          animate(one, frames, timing);
        });
      }
    }
    turned = over;
  }

  return {
    svg,
    node,
    middle,
    nameAt,
    outside,
    countOutside,
    names: () => [...nodes.keys()],
    has: (name) => nodes.has(name),
    /** The numbers with which the last moves have marked a spot or place, "" if none. */
    marks(name) {
      const where = isPlace(name) ? `[data-place="${number(name)}"]:not([data-spot])` : `[data-spot="${name}"]`;
      return board.querySelector(`.mark${where} .mark-number`)?.textContent.trim() || "";
    },
    isFree: (spot) => node(spot).classList.contains("free"),
    /** The card that lies face up on a spot, undefined if there is none. */
    card: (spot) => cards.get(spot),
    /** The cards that lie face up at a place. */
    cardsAt: (place) => [...cards].filter(([spot]) => placeOf(spot) === place).map(([, card]) => card),
    lies: (spot) => board.querySelector(`.pieces .card[data-spot="${spot}"]`) !== null,
    /** The seats whose shields lie at a place, first placed first. */
    stack: (place) => shields(place).map(({ dataset }) => Number(dataset.seat)),
    at: (point) => toPicture(svg(), point),
    visible: (name) => Math.abs(outside(name)) < 8,

    /** Where the middle of a spot or place is in the window. */
    inWindow: (name) => toWindow(svg(), middle(name)),

    /** How far a spot is from the middle of the visible part of the row. */
    distance(name) {
      const frame = board.getBoundingClientRect();
      const box = node(name).getBoundingClientRect();
      return Math.abs(box.left + box.right - frame.left - frame.right);
    },

    /** Scroll the row so that a spot or place is seen. */
    reveal(name, behavior = still() ? "instant" : "smooth") {
      const by = outside(name, 40);
      if (by) {
        board.scrollBy({ left: by, behavior });
      }
    },

    /** Make a picture that has just been put on the page usable. `ours` says whether it is the match as it stands. */
    prepare(stop, ours) {
      nodes = new Map([...board.querySelectorAll(".spot, .place")].map((one) => [nameAt(one), one]));
      const faces = board.querySelectorAll(".pieces .card[data-card]");
      cards = new Map([...faces].map(({ dataset }) => [dataset.spot, dataset.card]));
      board.querySelectorAll(".walked").forEach((one) => one.remove());
      board.querySelectorAll(".spots, .places").forEach((list) => list.setAttribute("role", "listbox"));
      for (const [name, one] of nodes) {
        one.setAttribute("role", "option");
        stop.mark(one, name);
      }
      if (ours) {
        turnStacks();
      }
    },

    /** What an arrow key, Home or End leads to: along a side, or across by way of the place between; "" if nothing. */
    beside(name, key) {
      const place = isPlace(name);
      const along = (to) => `${place ? "place " : name[0]}${to}`;
      const ways = {
        ArrowLeft: () => along(number(name) - 1),
        ArrowRight: () => along(number(name) + 1),
        Home: () => along(1),
        End: () => along(place ? count("place") : WIDE * count("place")),
      };
      let next = "";
      if (ways[key]) {
        next = ways[key]();
      } else if (place) {
        const from = placeOf(`N${column}`) === number(name) ? column : WIDE * number(name) - 1;
        next = `${key === "ArrowUp" ? "N" : "S"}${from}`;
      } else {
        column = number(name);
        next = (name[0] === "N") === (key === "ArrowDown") ? `place ${placeOf(name)}` : "";
      }
      return nodes.has(next) ? next : "";
    },

    /** Where the next shield of a place will lie; as in layout.py. */
    nextShield(place) {
      const name = `place ${place}`;
      const { x, width } = node(name).querySelector(".shape");
      const already = shields(place).length;
      const [first, last] = [x.baseVal.value + 102, x.baseVal.value + width.baseVal.value - 32];
      const step = Math.min(54, (last - first) / Math.max(already, 1));
      return { x: first + already * step, y: middle(name).y - 10 };
    },

    /** Draw a piece that has come to lie somewhere, until the next picture comes. */
    lay(symbol, { x, y }) {
      svg().append(drawing("use", { href: `#glory-${symbol}`, class: "walked", transform: `translate(${x} ${y})` }));
    },
  };
}
