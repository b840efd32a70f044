// Moves of Clans and Glory as text, and the names of spots, places and cards.
//
// A half-made move is "R5": a card picked. "R5 N7" is whole already; "R5 N7 shield" is the same with a shield on top.

import { capital } from "../../board/wording.js";
import { _ } from "../../words.js";

export const WIDE = 3; // columns of a place
export const NOTHING = { card: "", spot: "", down: false, shield: false };

export function read(text) {
  const [card = "", spot = "", ...more] = text.trim().split(/\s+/);
  return { card, spot, down: more.includes("down"), shield: more.includes("shield") };
}

export function write({ card, spot, down, shield }) {
  return [card, spot, down && "down", shield && "shield"].filter(Boolean).join(" ");
}

/** The same move with a shield if it has none, and without it if it has one. */
export const other = (move) => ({ ...move, shield: !move.shield });

export const number = (name) => Number(name.replace(/\D+/, ""));
export const isPlace = (name) => name.startsWith("place");
export const placeOf = (spot) => Math.ceil(number(spot) / WIDE);
/** Whether a card lies on a spot from the start: amid the north side of odd places, the south side of even ones. */
export const isStart = (spot) =>
  number(spot) === WIDE * placeOf(spot) - 1 && spot[0] === (placeOf(spot) % 2 ? "N" : "S");
export const isCard = (card) => /^[ROYGBPW]\d$/.test(card);
export const fit = (card, another) => card[0] === another[0] || card[1] === another[1];

/** A card in words: "red 5". */
export function words(card) {
  const strength = card[1];
  const called = {
    R: _("red {strength}", { strength }),
    O: _("orange {strength}", { strength }),
    Y: _("yellow {strength}", { strength }),
    G: _("green {strength}", { strength }),
    B: _("blue {strength}", { strength }),
    P: _("purple {strength}", { strength }),
    W: _("white {strength}", { strength }),
  };
  return called[card[0]];
}

/** A card in words at the beginning of a sentence. */
export const named = (card) => capital(words(card));

/** What fits beside some cards: "any red card", "any 5". */
export function kinds(cards) {
  const called = {
    R: _("any red card"),
    O: _("any orange card"),
    Y: _("any yellow card"),
    G: _("any green card"),
    B: _("any blue card"),
    P: _("any purple card"),
    W: _("any white card"),
  };
  const colours = [...new Set(cards.map((card) => card[0]))];
  const strengths = [...new Set(cards.map((card) => card[1]))].sort();
  const any = strengths.map((strength) => _("any {strength}", { strength }));
  return [...colours.map((letter) => called[letter]), ...any];
}

/** What the rules allow, out of the list that the page holds. */
export function allowed(moves) {
  const all = moves.map(read);
  return {
    targets: (card) => [...new Set(all.filter((move) => move.card === card).map(({ spot }) => spot))],
    any: (card) => all.some((move) => move.card === card),
    has: (move) => moves.includes(write(move)),
    faceDown: () => all.length > 0 && all[0].down,
  };
}
