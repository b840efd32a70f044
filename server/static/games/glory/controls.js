// Keys, clicks and pressing on row and hand of Clans and Glory.

import { reading } from "../../board/reading.js";
import { listen } from "../../board/stops.js";

/** Listen on row and hand. Return how to put the focus on a spot or place, and on a card. */
export function controls(host, { row, stop, hand, cardStop, carry, ...table }) {
  function focus(name) {
    stop.move(name);
    row.node(name).focus({ preventScroll: true });
    row.node(name).scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    row.reveal(name, "instant");
  }

  function focusCard(card) {
    cardStop.move(card);
    hand.card(card).focus();
  }

  /** Go to the card or spot whose name is typed, or to the place of a number alone. */
  function spell(text) {
    const known = (name) => row.has(name) || (table.usable() && hand.card(name));
    const found = [text, text.slice(-3), text.slice(-2)].find(known) || "";
    if (row.has(found)) {
      focus(found);
    } else if (found) {
      focusCard(found);
    } else if (row.has(`place ${text}`)) {
      focus(`place ${text}`);
    }
    return true;
  }

  listen(host.board, {
    nameAt: row.nameAt,
    choose: table.choose,
    back: table.back,
    spell,
    step(name, key) {
      const next = row.beside(name, key);
      if (next) {
        focus(next);
      }
    },
  });

  listen(host.hand, {
    nameAt: hand.nameAt,
    choose: table.pick,
    back: table.back,
    spell,
    step: (card, key) => focusCard(hand.beside(card, key)),
  });

  const shared = { rest: table.rest, tell: host.tell, quiet: carry.quiet };
  reading(host.board, { ...shared, nameAt: row.nameAt, fact: table.fact, focus: stop.move, choose: table.choose });
  reading(host.hand, {
    ...shared,
    nameAt: hand.nameAt,
    fact: table.cardFact,
    focus: cardStop.move,
    choose: (card) => card && table.pick(card),
  });

  host.hand.addEventListener("pointerdown", (event) => {
    const card = hand.nameAt(event.target);
    if (card && table.canMove(card)) {
      carry.grab(event, hand.card(card), { card });
    } else if (hand.isReadyShield(event.target)) {
      carry.grab(event, event.target.closest(".own-shields"), {});
    }
  });

  host.hand.addEventListener("click", (event) => {
    if (hand.isReadyShield(event.target) && event.detail < 2 && !carry.quiet()) {
      table.crown();
    }
  });

  return { focus, focusCard };
}
