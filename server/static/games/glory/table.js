// The row of Clans and Glory as a table to play at: dragging, tapping and keys become moves in notation. The interface
// between this script and the page is told at the top of live.js.

import { bringIntoView } from "../../board/motion.js";
import { byKey, tabStop } from "../../board/stops.js";
import { _ } from "../../words.js";
import { carrying } from "./carry.js";
import { controls } from "./controls.js";
import { facts } from "./facts.js";
import { flights } from "./flight.js";
import { hand as handOf } from "./hand.js";
import { allowed, isPlace, named, NOTHING, other, placeOf, read, write } from "./moves.js";
import { row as rowOf } from "./row.js";
import { shieldWays } from "./shield.js";
import { walker } from "./walk.js";

export function mount(host) {
  const row = rowOf(host);
  const stop = tabStop(row.node, "N1");
  const cardStop = tabStop((card) => hand.card(card));
  const hand = handOf(host, cardStop);
  const flight = flights(row);
  const told = facts(host, row, () => ({ draft, shown: shown !== "", faceDown: usable() && rules.faceDown() }));
  const walk = walker(host, { row, hand, flight });
  let draft = NOTHING;
  let open = false; // whether cards may be laid on the picture
  let shown = ""; // the whole move that the picture previews
  let rules = allowed([]);
  let begun = false; // whether the row has been scrolled to where something happened

  const usable = () => open || shown !== "";
  const canMove = (card) => usable() && rules.any(card);
  const canCrown = () => shown !== "" && rules.has(other(draft));

  // --- a half-made move grows and shrinks

  function pick(card) {
    if (!usable()) {
      return;
    }
    const fact = told.ofCard(card);
    host.tell(fact);
    if (card === draft.card && !draft.spot) {
      put(NOTHING);
      host.say(_("{card} put down.", { card: named(card) }));
    } else if (canMove(card)) {
      put({ ...NOTHING, card });
      host.say([_("Picked."), fact].join(" "));
      lead(rules.targets(card).sort((one, two) => row.distance(one) - row.distance(two)));
    } else {
      host.say(fact);
    }
  }

  /** Lead the eye, or the keys, to the nearest of the lit spots. */
  function lead(lit) {
    bringIntoView(host.board);
    if (byKey) {
      focus(lit[0]);
    } else if (!lit.some(row.visible)) {
      row.reveal(lit[0]);
    }
  }

  function choose(name) {
    if (!name) {
      if (open && draft.card) {
        put(NOTHING);
      }
    } else if (open && draft.card && rules.targets(draft.card).includes(name)) {
      lay(draft.card, name);
    } else if (shown && name === `place ${placeOf(draft.spot)}`) {
      crown();
    } else if (open && draft.card) {
      const why = told.whyNot(draft.card, name);
      host.tell(why);
      host.say(why);
    } else if (open && !isPlace(name) && row.isFree(name)) {
      hand.light(hand.names().filter((card) => rules.targets(card).includes(name)));
    }
  }

  const lay = (card, spot) => put({ ...NOTHING, card, spot, down: rules.faceDown() });

  /** Put a shield on the place just played, or take it back. */
  function crown() {
    if (canCrown()) {
      put(other(draft));
    } else if (shown) {
      host.say(_("You have no shield left."));
    }
  }

  function put(next) {
    draft = next;
    paint();
    host.draft(write(draft), "");
  }

  function back() {
    const { card } = draft;
    if (!open || !card) {
      return false;
    }
    put(NOTHING);
    host.say(_("Cancelled."));
    if (hand.card(card)) {
      focusCard(card);
    }
    return true;
  }

  /** Show the half-made move on row and hand. */
  function paint() {
    const lit = open && draft.card && !draft.spot ? rules.targets(draft.card) : [];
    const crowned = draft.spot && shown ? `place ${placeOf(draft.spot)}` : "";
    for (const name of row.names()) {
      const node = row.node(name);
      const target = lit.includes(name);
      node.classList.toggle("target", target);
      node.classList.toggle("crowned", name === crowned);
      const numbers = row.marks(name);
      const said = [told.of(name), numbers && _("Marked {numbers}.", { numbers }), target && invitation()];
      node.setAttribute("aria-label", said.filter(Boolean).join(" "));
      node.setAttribute("aria-selected", String(name === draft.spot));
    }
    hand.paint(draft, { usable: usable(), canMove, said: told.ofCard, ready: !draft.shield && canCrown() });
    row.svg().classList.toggle("laying", lit.length > 0);
    row.countOutside();
  }

  function invitation() {
    const card = named(draft.card);
    return rules.faceDown() ? _("{card} can be laid face down here.", { card }) : _("{card} fits here.", { card });
  }

  // --- the picture

  /** Make a picture that has just been put on the page usable by pointer and keyboard. */
  function prepare(ours) {
    rules = allowed(host.view().moves);
    row.prepare(stop, ours);
    hand.prepare(usable());
    if (!begun) {
      begun = true;
      const marks = host.board.querySelectorAll(".mark");
      const { spot, place } = marks[marks.length - 1]?.dataset || {};
      row.reveal(spot || (place ? `place ${place}` : stop.name), "instant");
    }
  }

  // --- pointers and keys

  const carry = carrying(host, {
    row,
    flight,
    /** Where a piece may go. */
    goals: ({ card }) => (card ? rules.targets(card) : [`place ${placeOf(draft.spot)}`]),
    symbol: ({ card }) => (card ? (rules.faceDown() ? "back" : `card-${card}`) : `shield-${host.view().viewer + 1}`),
    tellOf: ({ card }, aim) =>
      aim ? told.of(aim) : card ? told.ofCard(card) : _("A shield: put it on the place just played."),
    lift({ card }) {
      if (card && (draft.card !== card || draft.spot)) {
        put({ ...NOTHING, card });
      }
    },
    drop({ card }, aim) {
      if (aim && card) {
        lay(card, aim);
      } else if (aim) {
        crown();
      } else if (card) {
        put(NOTHING);
      }
    },
  });

  /** What is told of the spot or place pointed at: of the card just laid, what its place gives now. */
  const fact = (name) => (shown && name === draft.spot ? rest() : told.of(name));

  /** What is told while nothing is pointed at: the place just played, the card picked. */
  function rest() {
    return draft.spot ? told.of(`place ${placeOf(draft.spot)}`) : draft.card ? told.ofCard(draft.card) : "";
  }

  const { focus, focusCard } = controls(host, {
    ...{ row, stop, hand, cardStop, carry },
    ...{ pick, choose, back, crown, canMove, usable, rest, fact },
    cardFact: told.ofCard,
  });

  // --- what the page asks of this table

  return {
    get hint() {
      const how = allowed(host.view().moves).faceDown()
        ? _("None of your cards fits anywhere: lay one face down on any free spot.")
        : _("Pick a card, then one of the spots that light up, or drag it there. A shield may follow onto that place.");
      return [how, _("With the keyboard: arrow keys, Enter, Escape.")].join(" ");
    },

    enter(text) {
      walk.from(shown);
      shown = "";
      open = true;
      prepare(true);
      const { card } = read(text);
      draft = canMove(card) ? { ...NOTHING, card } : NOTHING;
      paint();
      host.tell(rest());
      return "";
    },

    look(text) {
      open = false;
      shown = text;
      draft = text ? read(text) : NOTHING;
      flight.clear();
      prepare(!text);
      paint();
      host.tell(rest());
      if (text) {
        row.reveal(draft.spot);
        bringIntoView(host.board);
      }
    },

    back: (text) => (read(text).spot ? read(text).card : ""),
    walk: walk.go,
    busy: carry.busy,
    more: (text) => shieldWays(read(text), { rules, carry, crown, seat: host.view().viewer }),
  };
}
