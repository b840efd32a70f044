// The map of Clans as a table to play at: dragging, tapping and keys become moves in notation. The interface between
// this script and the page is told at the top of live.js; the hooks of the picture are those of pieces.py.
//
// A half-made move is "A5" (huts picked up), "A5-B1" or "A5-B1 / B5" (villages still to be put in order).

const SVG = "http://www.w3.org/2000/svg";
const DRAG = 6; // pixels a pointer travels before it drags
const NEAR = 65; // units of the map by which a dragged group may miss its target
const COUNT = ["", "One village", "Two villages", "Three villages", "Four villages", "Five villages", "Six villages"];

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function read(text) {
  const [path, order = ""] = text.split("/");
  const [source, target = ""] = path.trim().split("-");
  return { source, target, order: order.split(" ").filter(Boolean) };
}

function write({ source, target, order }) {
  return [source, target && `-${target}`, order.length && ` / ${order.join(" ")}`].filter(Boolean).join("");
}

export function mount(host) {
  let draft = read("");
  let open = false; // whether moves may be made on the picture
  let legal = new Map(); // territory -> the moves of its huts
  let places = new Map(); // territory -> its element
  let stop = "A1"; // the one territory that the Tab key reaches
  let drag = null; // { name, id, from, at, group, moved }
  let dragged = false; // whether the click that follows ends a drag
  let offset = { x: 0, y: 0 }; // by how much the huts in hand are drawn away from their territory
  let typed = { text: "", at: 0 };
  let keys = false; // whether the last thing touched was a key

  const svg = () => host.board.querySelector("svg");
  const huts = (name) => host.board.querySelector(`.huts[data-territory="${name}"]`);
  const fact = (name) => places.get(name).querySelector("title").textContent;
  const middle = (name) => ({ x: Number(places.get(name).dataset.x), y: Number(places.get(name).dataset.y) });
  const nameAt = (element) => element?.closest?.(".territory")?.dataset.territory || "";

  // --- what the rules allow, out of the list that the page holds

  const movesFrom = (source) => legal.get(source) || [];
  const canMove = (name) => open && movesFrom(name).length > 0;
  const targetsOf = (source) => [...new Set(movesFrom(source).map((move) => read(move).target))];
  /** The whole moves that a half-made one can still become. */
  const ends = ({ source, target, order }) =>
    movesFrom(source).filter((move) => {
      const end = read(move);
      return end.target === target && order.every((name, place) => end.order[place] === name);
    });
  /** The villages from which the next one of the order can be chosen. */
  const candidates = () =>
    draft.target ? [...new Set(ends(draft).map((move) => read(move).order[draft.order.length]))].filter(Boolean) : [];

  // --- a half-made move grows and shrinks

  function choose(name) {
    const { source, target, order } = draft;
    if (!open) {
      return;
    }
    if (target) {
      if (order.includes(name)) {
        set({ source, target, order: order.slice(0, order.indexOf(name)) });
      } else if (candidates().includes(name)) {
        set({ source, target, order: [...order, name] });
      }
    } else if (source && targetsOf(source).includes(name)) {
      set({ source, target: name, order: [] });
    } else if (name === source) {
      set(read(""));
      host.say(`${name} put down.`);
    } else if (canMove(name)) {
      set(read(name));
      host.say(`${name} picked up. It can go to ${targetsOf(name).join(", ")}.`);
    } else {
      host.say(source ? `The huts of ${source} cannot go to ${name}.` : `The huts of ${name} cannot move.`);
    }
  }

  function set(next) {
    const left = next.target ? ends(next) : [];
    draft = left.length === 1 ? read(left[0]) : next;
    const question = paint();
    host.draft(write(draft), question);
    if (question) {
      host.say(question);
      if (keys && !draft.order.length) {
        focus(candidates()[0]);
      }
    }
  }

  /** Show the half-made move on the map. Return the question it asks. */
  function paint() {
    const { source, target, order } = draft;
    const targets = source && !target ? targetsOf(source) : [];
    const asking = target !== "" && ends(draft).length > 1;
    const asked = asking ? candidates() : [];
    const chosen = asking ? order : [];
    for (const [name, place] of places) {
      const can = !target && name !== source && canMove(name);
      const marks = { picked: name === source, target: targets.includes(name), "can-move": can };
      marks["preview-founded"] = asked.includes(name) || chosen.includes(name);
      Object.entries(marks).forEach(([mark, on]) => place.classList.toggle(mark, on));
      const said = [
        [marks.picked, "picked up"],
        [marks.target, `the huts of ${source} can go here`],
        [asked.includes(name), "to be founded: choose it next"],
        [chosen.includes(name), `number ${chosen.indexOf(name) + 1} in the order`],
        [can && !source, "can move"],
      ].flatMap(([so, words]) => (so ? [words] : []));
      place.setAttribute("aria-label", [fact(name), ...said].join("; "));
      place.setAttribute("aria-selected", String(marks.picked || chosen.includes(name)));
    }
    if (asking || !target) {
      lift(target); // the huts of a whole move walk there by themselves
    }
    question(chosen, asked);
    svg().classList.toggle("asking", asking);
    if (!asking) {
      return "";
    }
    const count = asked.length + order.length;
    const chips = read(ends(draft)[0]).order.length;
    if (chips === 1) {
      return `${COUNT[count]} arise, and one chip is left. Which takes it? Choose on the map.`;
    }
    const few = chips < count ? `, and ${chips} chips are left` : "";
    return `${COUNT[count]} arise${few}. Which is founded ${order.length ? "next" : "first"}? Choose on the map.`;
  }

  /** Draw the huts in hand: raised a little where they stand, or already at their target. */
  function lift(target) {
    const group = draft.source && huts(draft.source);
    host.board.querySelectorAll(".huts.in-hand").forEach((one) => {
      one.classList.remove("in-hand");
      one.removeAttribute("transform");
    });
    if (!group) {
      return;
    }
    group.classList.add("in-hand");
    if (target) {
      const here = middle(draft.source);
      const there = middle(target);
      put(group, { x: there.x - here.x, y: there.y - here.y - 14 });
    } else {
      put(group, { x: 0, y: -7 });
    }
  }

  function put(group, to) {
    offset = to;
    group.setAttribute("transform", `translate(${to.x.toFixed(1)} ${to.y.toFixed(1)})`);
  }

  /** Draw a question mark on each village to choose from, and the numbers of those chosen. */
  function question(order, asked) {
    host.board.querySelectorAll(".question-mark, .order-number").forEach((mark) => mark.remove());
    const draw = (name, kind, text) => {
      const mark = document.createElementNS(SVG, "g");
      const { x, y } = middle(name);
      mark.setAttribute("class", kind);
      mark.setAttribute("transform", `translate(${x} ${y - 30})`);
      mark.setAttribute("pointer-events", "none");
      mark.dataset.territory = name;
      mark.innerHTML = text
        ? `<circle r="23" fill="#fbf4e0" stroke="#2b2118" stroke-width="4"/><text y="12" font-size="36" text-anchor="middle" fill="#2b2118">${text}</text>`
        : '<use href="#clans-question"/>';
      svg().append(mark);
    };
    order.forEach((name, place) => draw(name, "order-number", place + 1));
    asked.forEach((name) => draw(name, "question-mark", ""));
  }

  // --- the picture

  /** Make a picture that has just been put on the page usable by pointer and keyboard. */
  function prepare() {
    places = new Map([...host.board.querySelectorAll(".territory")].map((place) => [place.dataset.territory, place]));
    const list = host.board.querySelector(".territories");
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Territories");
    for (const [name, place] of places) {
      place.setAttribute("role", "option");
      place.setAttribute("tabindex", name === stop ? "0" : "-1");
    }
    drag = null;
    legal = new Map();
    for (const move of host.view().moves) {
      const { source } = read(move);
      legal.set(source, [...movesFrom(source), move]);
    }
  }

  function focus(name) {
    places.get(stop)?.setAttribute("tabindex", "-1");
    stop = name;
    places.get(name).setAttribute("tabindex", "0");
    places.get(name).focus();
  }

  /** The nearest territory in a direction, measured with a penalty for being off to the side. */
  function beside(name, [dx, dy]) {
    const here = middle(name);
    let best = "";
    let least = Infinity;
    for (const other of places.keys()) {
      const there = middle(other);
      const along = (there.x - here.x) * dx + (there.y - here.y) * dy;
      const aside = Math.abs((there.x - here.x) * dy + (there.y - here.y) * dx);
      if (along > 0 && aside <= along * 1.5 && along + 1.6 * aside < least) {
        least = along + 1.6 * aside;
        best = other;
      }
    }
    return best;
  }

  // --- keys

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  host.board.addEventListener("keydown", (event) => {
    const name = nameAt(event.target);
    keys = true;
    if (!name || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (Object.hasOwn(ARROWS, event.key)) {
      const next = beside(name, ARROWS[event.key]);
      if (next) {
        focus(next);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      if (!event.repeat) {
        choose(name);
      }
    } else if (event.key === "Escape" && open && draft.source) {
      set(read(""));
      host.say("Cancelled.");
    } else if (/^[a-l1-5]$/i.test(event.key)) {
      // A letter and a number go to the territory of that name.
      typed = { text: (event.timeStamp - typed.at < 1200 ? typed.text : "") + event.key.toUpperCase(), at: event.timeStamp };
      const found = [typed.text, `${typed.text}1`, typed.text.slice(-2)].find((wanted) => places.has(wanted));
      if (found) {
        focus(found);
      }
    } else {
      return;
    }
    event.preventDefault();
  });

  host.board.addEventListener("focusin", (event) => {
    const name = nameAt(event.target);
    if (name) {
      if (name !== stop) {
        places.get(stop)?.setAttribute("tabindex", "-1");
        stop = name;
        places.get(name).setAttribute("tabindex", "0");
      }
      host.tell(fact(name));
    }
  });

  // --- pointers

  function toMap(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg().getScreenCTM().inverse());
    return { x: point.x, y: point.y };
  }

  /** The legal target under a pointer, or the one that it has only just missed. */
  function aimedAt(event) {
    const targets = targetsOf(drag.name);
    const under = nameAt(document.elementFromPoint(event.clientX, event.clientY));
    if (under && under !== drag.name) {
      return targets.includes(under) ? under : "";
    }
    const at = toMap(event);
    const distance = (name) => Math.hypot(middle(name).x - at.x, middle(name).y - at.y);
    return under ? "" : targets.filter((name) => distance(name) < NEAR).sort((a, b) => distance(a) - distance(b))[0] || "";
  }

  function drop() {
    if (drag?.moved) {
      drag.group.classList.remove("dragged");
      places.forEach((place) => place.classList.remove("over"));
      dragged = true;
    }
    drag = null;
  }

  host.board.addEventListener("pointerdown", (event) => {
    dragged = false;
    keys = false;
    const name = nameAt(event.target);
    if (name && event.button === 0 && event.isPrimary && !event.shiftKey && !draft.target && canMove(name)) {
      drag = { name, id: event.pointerId, from: toMap(event), x: event.clientX, y: event.clientY, moved: false };
      drag.group = huts(name);
    }
  });

  host.board.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    if (!drag.moved) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG) {
        return;
      }
      drag.moved = true;
      host.board.setPointerCapture(event.pointerId);
      if (draft.source !== drag.name) {
        set(read(drag.name));
      }
      drag.group.classList.add("dragged");
      drag.group.parentNode.append(drag.group); // above all other pieces
    }
    const at = toMap(event);
    const raised = event.pointerType === "mouse" ? 8 : 40; // so that a finger does not hide what it holds
    put(drag.group, { x: at.x - drag.from.x, y: at.y - drag.from.y - raised });
    const aim = aimedAt(event);
    places.forEach((place, name) => place.classList.toggle("over", name === aim));
    host.tell(aim ? `To ${fact(aim)}` : fact(drag.name));
  });

  host.board.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    const { moved, name } = drag;
    const aim = moved && aimedAt(event);
    drop();
    if (aim) {
      set({ source: name, target: aim, order: [] });
    } else if (moved) {
      set(read(""));
    }
  });

  host.board.addEventListener("pointercancel", () => {
    const moved = drag?.moved;
    drop();
    if (moved) {
      set(read(""));
    }
  });

  host.board.addEventListener("click", (event) => {
    if (dragged) {
      dragged = false;
      return;
    }
    const name = nameAt(event.target);
    if (name) {
      host.tell(fact(name));
      if (!event.shiftKey) {
        choose(name);
      }
    } else if (open && draft.source && !draft.target) {
      set(read(""));
    }
  });

  host.board.addEventListener("contextmenu", (event) => {
    const name = nameAt(event.target);
    if (name) {
      event.preventDefault();
      host.tell(fact(name));
    }
  });

  host.board.addEventListener("pointerover", (event) => {
    if (!drag && event.pointerType === "mouse" && nameAt(event.target)) {
      host.tell(fact(nameAt(event.target)));
    }
  });

  host.board.addEventListener("pointerleave", (event) => {
    if (!drag && event.pointerType === "mouse") {
      host.tell("");
    }
  });

  // --- what the page asks of this table

  return {
    hint: "Drag huts onto a neighbour, or tap them and then where they go. With the keyboard: arrow keys, Enter, Escape.",

    enter(text) {
      open = true;
      prepare();
      draft = read(text);
      if (!canMove(draft.source) || (draft.target && ends(draft).length < 2)) {
        draft = read("");
      }
      return paint();
    },

    look() {
      open = false;
      draft = read("");
      prepare();
      paint();
    },

    back(text) {
      const { source, target, order } = read(text);
      if (!target) {
        return "";
      }
      // The last name may have followed by itself: go back to where there was something to choose.
      for (let left = order.length - 1; left >= 0; left -= 1) {
        const shorter = { source, target, order: order.slice(0, left) };
        if (ends(shorter).length > 1) {
          return write(shorter);
        }
      }
      return source;
    },

    async walk(text) {
      const { source, target } = read(text);
      const group = huts(source);
      if (!group || !places.has(target) || still()) {
        return;
      }
      const from = group.hasAttribute("transform") ? offset : { x: 0, y: 0 };
      const to = { x: middle(target).x - middle(source).x, y: middle(target).y - middle(source).y };
      const way = Math.hypot(to.x - from.x, to.y - from.y);
      group.removeAttribute("transform");
      group.parentNode.append(group);
      const steps = Math.max(1, Math.round(way / 28));
      const frames = Array.from({ length: steps * 2 + 1 }, (_, n) => {
        const part = n / (steps * 2);
        const hop = n % 2 ? 9 : 0;
        const x = from.x + (to.x - from.x) * part;
        const y = from.y + (to.y - from.y) * part - hop;
        return { transform: `translate(${x}px, ${y}px)` };
      });
      const walking = group.animate(frames, { duration: Math.min(650, 120 + way * 4), fill: "forwards" });
      await walking.finished.catch(() => {});
    },

    busy: () => Boolean(drag),
  };
}
