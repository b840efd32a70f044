// What is told of a spot, a place or a card of Clans and Glory: out of the picture as it stands, with the
// move that it previews.

import { either, listed } from "../../board/wording.js";
import { _ } from "../../words.js";
import { fit, isCard, isPlace, isStart, kinds, named, number, placeOf, read, words } from "./moves.js";

/** `seen()` gives { draft, shown, faceDown }: the half-made move, whether the picture previews it, and whether no
    card of the hand fits. */
export function facts(host, row, seen) {
  const table = () => host.view().table;

  /** The spots with a face-up card that a card on this spot would lie next to. */
  function around(spot) {
    const at = number(spot);
    const side = spot[0];
    const beside = [at - 1, at + 1].map((next) => `${side}${next}`).filter(row.has);
    const apart = table().options.row === "separate";
    const within = beside.filter((next) => !apart || placeOf(next) === placeOf(spot));
    return [`${side === "N" ? "S" : "N"}${at}`, ...within].filter(row.card);
  }

  /** Who laid what on a spot; undefined if it lay there from the start, or the page does not tell. */
  function laid(spot) {
    const { draft, shown } = seen();
    if (shown && draft.spot === spot) {
      return { seat: host.view().viewer, card: draft.card };
    }
    const found = host.made().findLast(({ text }) => read(text).spot === spot);
    return found && { seat: found.seat, card: read(found.text).card };
  }

  function taken(spot) {
    const by = laid(spot);
    const name = by && host.names()[by.seat];
    if (!row.card(spot)) {
      return isCard(by?.card)
        ? _("{spot}: {card} face down, laid by {name}.", { spot, card: words(by.card), name })
        : hidden(spot, name);
    }
    const card = words(row.card(spot));
    if (isStart(spot)) {
      return _("{spot}: {card}, there from the start.", { spot, card });
    }
    return by ? _("{spot}: {card}, laid by {name}.", { spot, card, name }) : _("{spot}: {card}.", { spot, card });
  }

  const hidden = (spot, name) =>
    name ? _("{spot}: a card face down, laid by {name}.", { spot, name }) : _("{spot}: a card face down.", { spot });

  function free(spot) {
    const { draft } = seen();
    const near = around(spot);
    if (!near.length) {
      return _("{spot}: free. No face-up card is opposite or beside it, so none fits.", { spot });
    }
    const cards = near.map(row.card);
    const lie = near.map((one) => _("{card} on {spot}", { card: words(row.card(one)), spot: one }));
    const fitting = either(kinds(cards));
    const told = [_("{spot}: free, next to {cards}. What fits: {fitting}.", { spot, cards: listed(lie), fitting })];
    const own = table().hand?.filter((card) => card !== draft.card || !draft.spot) || [];
    const yours = own.filter((card) => cards.some((one) => fit(card, one)));
    if (own.length) {
      told.push(yours.length ? _("Of yours: {cards}.", { cards: listed(yours) }) : _("Of yours: none."));
    }
    return told.join(" ");
  }

  /** The shields of a place in order, what each takes, and what one more would. */
  function place(name) {
    const at = number(name);
    const strengths = row.cardsAt(at).map((card) => Number(card[1]));
    const order = [...new Set(strengths)].sort((one, two) => one - two);
    const stack = row.stack(at);
    const takes = (rank) => {
      const strength = order[rank];
      const count = strengths.filter((one) => one === strength).length;
      return strength ? { strength, count, points: strength * count } : null;
    };
    const told = stack.map((seat, rank) => shieldFact(rank, host.names()[seat], takes(rank)));
    const now = told.length
      ? _("Place {place}: {shields}.", { place: at, shields: told.join("; ") })
      : _("Place {place}: no shields.", { place: at });
    return host.view().outcome ? now : `${now} ${oneMore(stack.length, takes(stack.length))}`;
  }

  function shieldFact(rank, name, gain) {
    if (!gain) {
      return rank ? _("then {name} takes nothing", { name }) : _("first {name} takes nothing", { name });
    }
    const known = { name, ...gain };
    return rank
      ? _("then {name} takes {points} ({count} of strength {strength})", known)
      : _("first {name} takes {points} ({count} of strength {strength})", known);
  }

  function oneMore(already, gain) {
    if (!gain) {
      return already
        ? _("One more shield would take nothing as it stands.")
        : _("A shield would take nothing as it stands.");
    }
    return already
      ? _("One more shield would take {points} ({count} of strength {strength}) as it stands.", gain)
      : _("A shield would take {points} ({count} of strength {strength}) as it stands.", gain);
  }

  function spot(name) {
    return row.isFree(name) ? free(name) : taken(name);
  }

  return {
    of: (name) => (isPlace(name) ? place(name) : spot(name)),

    ofCard(card) {
      if (seen().faceDown) {
        return _("{card} can be laid face down on any free spot.", { card: named(card) });
      }
      const spots = table().fits[card];
      return spots.length
        ? _("{card} fits on {spots}.", { card: named(card), spots: listed(spots) })
        : _("{card} fits nowhere now.", { card: named(card) });
    },

    /** Why a card cannot be laid on a spot or place. */
    whyNot(card, name) {
      if (isPlace(name)) {
        const place = number(name);
        return _("{card} is laid on a spot north or south of place {place}, not on the place itself.", { card, place });
      }
      const why = row.isFree(name)
        ? _("{card} does not fit on {spot}.", { card, spot: name })
        : _("{spot} is taken.", { spot: name });
      return `${why} ${spot(name)}`;
    },
  };
}
