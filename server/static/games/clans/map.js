// The map of Clans as it lies on the page: its territories, what stands there, and what is drawn while a move is made.
// The hooks of the picture are those of pieces.py.

import { animate, drawing, still, toPicture } from "../../board/motion.js";

const STEP = 28; // units of the map that walking huts go in one hop
const RAISED = { x: 0, y: -7 }; // by how much the huts in hand are raised where they stand

export function map(board) {
  let places = new Map(); // territory -> its element
  let villages = null; // the territories with a village on the picture before this one
  let offset = { x: 0, y: 0 }; // by how much the huts in hand are drawn away from their territory

  const svg = () => board.querySelector("svg");
  const huts = (name) => board.querySelector(`.huts[data-territory="${name}"]`);
  const middle = (name) => ({ x: Number(places.get(name).dataset.x), y: Number(places.get(name).dataset.y) });
  const way = (source, target) => ({
    x: middle(target).x - middle(source).x,
    y: middle(target).y - middle(source).y,
  });

  function put(group, to) {
    offset = to;
    group.setAttribute("transform", `translate(${to.x.toFixed(1)} ${to.y.toFixed(1)})`);
  }

  /** A village that was not on the picture before grows out of its ground. */
  function rise() {
    const now = new Map([...board.querySelectorAll(".palisade")].map((one) => [one.dataset.territory, one]));
    if (villages) {
      const fresh = [...now].filter(([name]) => !villages.has(name));
      fresh.forEach(([, palisade], place) => {
        const grown = { opacity: 1, scale: 1.06, offset: 0.7 };
        const frames = [{ opacity: 0, scale: 0.55 }, grown, { opacity: 1, scale: 1 }];
        animate(palisade, frames, { duration: 420, delay: place * 160, easing: "ease-out", fill: "backwards" });
      });
    }
    villages = new Set(now.keys());
  }

  return {
    svg,
    huts,
    middle,
    names: () => [...places.keys()],
    has: (name) => places.has(name),
    element: (name) => places.get(name),
    fact: (name) => places.get(name).querySelector("title").textContent,
    nameAt: (element) => element?.closest?.(".territory")?.dataset.territory || "",
    at: (point) => toPicture(svg(), point),

    /** The numbers with which the last moves have marked a territory, "" if none. */
    marks: (name) => board.querySelector(`.mark-number[data-territory="${name}"]`)?.textContent.trim() || "",

    /** Make a picture that has just been put on the page usable. */
    prepare(stop) {
      places = new Map([...board.querySelectorAll(".territory")].map((place) => [place.dataset.territory, place]));
      board.querySelector(".territories").setAttribute("role", "listbox");
      for (const [name, place] of places) {
        place.setAttribute("role", "option");
        stop.mark(place, name);
      }
      rise();
    },

    /** The nearest territory in a direction, measured with a penalty for being off to the side. */
    beside(name, [dx, dy]) {
      let best = "";
      let least = Infinity;
      for (const other of places.keys()) {
        const { x, y } = way(name, other);
        const along = x * dx + y * dy;
        const aside = Math.abs(x * dy + y * dx);
        if (along > 0 && aside <= along * 1.5 && along + 1.6 * aside < least) {
          least = along + 1.6 * aside;
          best = other;
        }
      }
      return best;
    },

    /** Draw the huts in hand: raised a little where they stand, or already at their target. None if `source` is "". */
    lift(source, target) {
      board.querySelectorAll(".huts.in-hand").forEach((one) => {
        one.classList.remove("in-hand");
        one.removeAttribute("transform");
      });
      const group = source && huts(source);
      if (group) {
        const { x, y } = target ? way(source, target) : RAISED;
        group.classList.add("in-hand");
        put(group, { x, y: target ? y - 14 : y });
      }
    },

    /** Let the huts of a territory follow the pointer, above all other pieces. */
    carry(name, by) {
      const group = huts(name);
      if (!group.classList.contains("dragged")) {
        group.classList.add("dragged");
        group.parentNode.append(group);
      }
      put(group, by);
    },

    /** Show which territory the huts would be dropped on, "" if on none. */
    aim(target) {
      places.forEach((place, name) => place.classList.toggle("over", name === target));
    },

    /** Draw a question mark on each village to choose from, and the numbers of those chosen. */
    question(order, asked) {
      board.querySelectorAll(".question-mark, .order-number").forEach((mark) => mark.remove());
      const draw = (name, kind, content) => {
        const { x, y } = middle(name);
        const mark = drawing("g", { class: kind, transform: `translate(${x} ${y - 30})`, "pointer-events": "none" });
        mark.setAttribute("aria-hidden", "true"); // the territory itself says so
        mark.dataset.territory = name;
        mark.append(...content);
        svg().append(mark);
      };
      order.forEach((name, place) => {
        const text = drawing("text", { y: 12, "font-size": 36, "text-anchor": "middle", fill: "#2b2118" });
        text.textContent = place + 1;
        const ground = drawing("circle", { r: 23, fill: "#fbf4e0", stroke: "#2b2118", "stroke-width": 4 });
        draw(name, "order-number", [ground, text]);
      });
      asked.forEach((name) => draw(name, "question-mark", [drawing("use", { href: "#clans-question" })]));
      svg().classList.toggle("asking", asked.length > 0);
    },

    /** Let the huts of a territory walk to another, from where they are drawn. */
    async walk(source, target) {
      const group = huts(source);
      if (!group || !places.has(target) || still()) {
        return;
      }
      const from = group.hasAttribute("transform") ? offset : { x: 0, y: 0 };
      const to = way(source, target);
      const far = Math.hypot(to.x - from.x, to.y - from.y);
      group.removeAttribute("transform");
      group.parentNode.append(group);
      const steps = Math.max(1, Math.round(far / STEP)) * 2;
      const frames = Array.from({ length: steps + 1 }, (_nothing, n) => {
        const x = from.x + ((to.x - from.x) * n) / steps;
        const y = from.y + ((to.y - from.y) * n) / steps - (n % 2 ? 9 : 0);
        return { transform: `translate(${x}px, ${y}px)` };
      });
      await animate(group, frames, { duration: Math.min(650, 120 + far * 4), fill: "forwards" });
    },
  };
}
