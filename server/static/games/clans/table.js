// The map of Clans as a table to play at: dragging, tapping and keys become moves in notation. The interface between
// this script and the page is told at the top of live.js.

import { dragging } from "../../board/drag.js";
import { bringIntoView, nearest } from "../../board/motion.js";
import { reading } from "../../board/reading.js";
import { byKey, listen, tabStop } from "../../board/stops.js";
import { listed } from "../../board/wording.js";
import { _, ngettext } from "../../words.js";
import { map } from "./map.js";
import { allowed, read, write } from "./moves.js";

const NEAR = 65; // units of the map by which a dragged group may miss its target
const NOTHING = read("");
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function mount(host) {
  const land = map(host.board);
  const stop = tabStop(land.element, "A1");
  let draft = NOTHING;
  let open = false; // whether moves may be made on the picture
  let rules = allowed([]);
  let grip = null; // where on the map the huts that are dragged were taken

  const canMove = (name) => open && rules.any(name);

  // --- a half-made move grows and shrinks

  function choose(name) {
    const { source, target, order } = draft;
    if (!open) {
      return;
    }
    if (!name) {
      if (source && !target) {
        set(NOTHING);
      }
    } else if (target) {
      if (order.includes(name)) {
        set({ source, target, order: order.slice(0, order.indexOf(name)) });
      } else if (rules.candidates(draft).includes(name)) {
        set({ source, target, order: [...order, name] });
      }
    } else if (source && rules.targets(source).includes(name)) {
      set({ source, target: name, order: [] });
    } else if (name === source) {
      set(NOTHING);
      host.say(_("{place} put down.", { place: name }));
    } else if (canMove(name)) {
      set(read(name));
      host.say(_("{place} picked up. It can go to {targets}.", { place: name, targets: listed(rules.targets(name)) }));
    } else if (source) {
      const why = _("The huts of {source} cannot go to {target}.", { source, target: name });
      host.tell(`${why} ${land.fact(name)}`);
      host.say(why);
    } else if (land.huts(name)) {
      host.say(_("The huts of {place} cannot move.", { place: name }));
    } else {
      host.say(_("There are no huts on {place}.", { place: name }));
    }
  }

  function set(next) {
    const left = next.target ? rules.ends(next) : [];
    draft = left.length === 1 ? read(left[0]) : next;
    const question = paint();
    host.draft(write(draft), question);
    if (question) {
      bringIntoView(host.board);
      host.say(question);
      if (byKey && !draft.order.length) {
        focus(rules.candidates(draft)[0]);
      }
    }
  }

  function back() {
    if (!open || !draft.source) {
      return false;
    }
    const { source } = draft;
    set(read(rules.before(draft)));
    host.say(draft.source ? _("One step back.") : _("Cancelled."));
    focus(source);
    return true;
  }

  /** Show the half-made move on the map. Return the question it asks. */
  function paint() {
    const { source, target, order } = draft;
    const asking = target !== "" && rules.ends(draft).length > 1;
    const asked = asking ? rules.candidates(draft) : [];
    const chosen = asking ? order : [];
    const targets = source && !target ? rules.targets(source) : [];
    for (const name of land.names()) {
      const can = !target && name !== source && canMove(name);
      const marks = { picked: name === source, target: targets.includes(name), "can-move": can };
      marks["preview-founded"] = asked.includes(name) || chosen.includes(name);
      const place = land.element(name);
      Object.entries(marks).forEach(([mark, on]) => place.classList.toggle(mark, on));
      const numbers = land.marks(name);
      const said = [
        [numbers, _("marked {numbers}", { numbers })],
        [marks.picked, _("picked up")],
        [marks.target, _("the huts of {source} can go here", { source })],
        [asked.includes(name), _("to be founded: choose it next")],
        [chosen.includes(name), _("number {n} in the order", { n: chosen.indexOf(name) + 1 })],
        [can && !source, _("can move")],
      ].flatMap(([so, words]) => (so ? [words] : []));
      place.setAttribute("aria-label", [land.fact(name), ...said].join("; "));
      place.setAttribute("aria-selected", String(marks.picked || chosen.includes(name)));
    }
    if (asking || !target) {
      land.lift(source, target); // the huts of a whole move walk there by themselves
    }
    land.question(chosen, asked);
    return asking ? question(asked) : "";
  }

  function question(asked) {
    const count = asked.length + draft.order.length;
    const chips = read(rules.ends(draft)[0]).order.length;
    const told = [ngettext("{n} village arises.", "{n} villages arise.", count)];
    if (chips < count) {
      told.push(ngettext("{n} chip is left.", "{n} chips are left.", chips));
    }
    if (chips === 1) {
      told.push(_("Which village takes it?"));
    } else {
      told.push(draft.order.length ? _("Which is founded next?") : _("Which is founded first?"));
    }
    return [...told, _("Choose on the map.")].join(" ");
  }

  function prepare() {
    land.prepare(stop);
    rules = allowed(host.view().moves);
  }

  function focus(name) {
    stop.move(name);
    land.element(name).focus();
  }

  // --- dragging

  /** The legal target under a pointer, or the one that it has only just missed. */
  function aimedAt(name, { x, y }) {
    const targets = rules.targets(name);
    const under = land.nameAt(document.elementFromPoint(x, y));
    if (under && under !== name) {
      return targets.includes(under) ? under : "";
    }
    return under ? "" : nearest(targets, land.middle, land.at({ x, y }), NEAR);
  }

  const drag = dragging({
    lift(name) {
      if (draft.source !== name) {
        set(read(name));
      }
    },

    move(name, at, finger) {
      const { x, y } = land.at(at);
      // Raised, so that a finger does not hide what it holds.
      land.carry(name, { x: x - grip.x, y: y - grip.y - (finger ? 40 : 8) });
      const aim = aimedAt(name, at);
      land.aim(aim);
      host.tell(aim ? _("To {place}", { place: land.fact(aim) }) : land.fact(name));
    },

    drop(name, at) {
      const aim = at && aimedAt(name, at);
      land.huts(name)?.classList.remove("dragged");
      land.aim("");
      set(aim ? { source: name, target: aim, order: [] } : NOTHING);
    },
  });

  host.board.addEventListener("pointerdown", (event) => {
    const name = land.nameAt(event.target);
    if (!draft.target && canMove(name)) {
      grip = land.at({ x: event.clientX, y: event.clientY });
      drag.grab(event, host.board, name);
    }
  });

  // --- keys, and what is told

  listen(host.board, {
    nameAt: land.nameAt,
    choose,
    back,
    step(name, key) {
      const next = ARROWS[key] && land.beside(name, ARROWS[key]);
      if (next) {
        focus(next);
      }
    },
    spell(text) {
      const found = [text, `${text}1`, text.slice(-2)].find(land.has);
      if (found) {
        focus(found);
      }
      return true;
    },
  });

  reading(host.board, {
    nameAt: land.nameAt,
    fact: land.fact,
    rest: () => (open && draft.source ? land.fact(draft.source) : ""),
    tell: host.tell,
    focus: stop.move,
    choose,
    quiet: drag.quiet,
  });

  // --- what the page asks of this table

  return {
    get hint() {
      return _(
        "Drag huts onto a neighbour, or tap them and then where they go. With the keyboard: arrow keys, Enter, Escape.",
      );
    },

    enter(text) {
      open = true;
      prepare();
      draft = read(text);
      if (!canMove(draft.source) || (draft.target && rules.ends(draft).length < 2)) {
        draft = NOTHING;
      }
      return paint();
    },

    look(text) {
      open = false;
      draft = NOTHING;
      prepare();
      paint();
      if (text) {
        bringIntoView(host.board);
      }
    },

    back: (text) => allowed(host.view().moves).before(read(text)),

    walk(text) {
      const { source, target } = read(text);
      return land.walk(source, target);
    },

    busy: drag.busy,
  };
}
