// How a move of Clans and Glory is seen: the card flies to its spot, then the shield to the stack.

import { centre } from "./flight.js";
import { isCard, placeOf, read } from "./moves.js";

const ABOVE = 160; // pixels above its goal from where a piece comes that nobody held

export function walker(host, { row, hand, flight }) {
  let before = ""; // the whole move that the picture has previewed until this very moment

  const above = (name) => {
    const { x, y } = row.inWindow(name);
    return { x, y: y - ABOVE };
  };

  return {
    /** The picture no longer previews a move: what it showed need not come again. */
    from(text) {
      before = text;
      queueMicrotask(() => (before = ""));
    },

    /** Let the pieces of a whole move fly to where they are laid. */
    async go(text) {
      const { card, spot, down, shield } = read(text);
      if (!row.has(spot) || row.lies(spot)) {
        flight.clear();
        return;
      }
      const lying = read(before).spot === spot && read(before).card === card;
      const mine = hand.card(card);
      const symbol = down || !isCard(card) ? "back" : `card-${card}`;
      const held = flight.at(); // the card, or the shield onto one that lies already
      row.reveal(spot, "instant");
      mine?.classList.add("laid");
      if (lying) {
        row.lay(symbol, row.middle(spot));
      } else {
        await flight.fly(symbol, held || (mine?.offsetParent ? centre(mine) : above(spot)), row.middle(spot));
      }
      if (shield && row.has(spot)) {
        const place = placeOf(spot);
        const seat = host.view().to_act[0] ?? 0;
        const own = document.getElementById("with-shield")?.querySelector("svg");
        const rest = mine && own?.getClientRects().length ? centre(own) : above(`place ${place}`);
        await flight.fly(`shield-${seat + 1}`, (lying && held) || rest, row.nextShield(place));
      }
    },
  };
}
