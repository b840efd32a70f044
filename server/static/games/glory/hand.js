// The viewer's own hand of Clans and Glory; its hooks are in templates/games/glory/hand.html.

import { _ } from "../../words.js";

export function hand(host, stop) {
  const all = () => [...host.hand.querySelectorAll(".hand-card")];
  const names = () => all().map(({ dataset }) => dataset.card);
  const card = (name) => all().find(({ dataset }) => dataset.card === name);

  return {
    names,
    card,
    nameAt: (element) => element?.closest?.(".hand-card")?.dataset.card || "",
    isReadyShield: (element) => Boolean(element.closest(".own-shields.ready")),

    /** Make a hand that has just been put on the page usable, if cards can be laid. */
    prepare(usable) {
      host.hand.classList.toggle("docked", usable);
      const list = host.hand.querySelector(".hand-cards");
      if (!list || !usable) {
        return;
      }
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-orientation", "horizontal");
      list.setAttribute("aria-label", _("Your hand"));
      if (!card(stop.name)) {
        stop.move(names()[0]);
      }
      for (const one of all()) {
        one.setAttribute("role", "option");
        stop.mark(one, one.dataset.card);
      }
    },

    /** Show a half-made move: which card is picked, or about to be laid; `said` is what is told of a card. */
    paint(draft, { usable, canMove, said, ready }) {
      for (const one of all()) {
        const name = one.dataset.card;
        const picked = usable && name === draft.card;
        one.classList.toggle("picked", picked && !draft.spot);
        one.classList.toggle("laid", picked && draft.spot !== "");
        one.classList.toggle("can-move", canMove(name));
        one.classList.remove("fits-here");
        if (usable) {
          const state = draft.spot ? _("About to be laid on {spot}.", { spot: draft.spot }) : _("Picked.");
          one.setAttribute("aria-label", picked ? `${said(name)} ${state}` : said(name));
          one.setAttribute("aria-selected", String(picked));
        }
      }
      host.hand.querySelector(".own-shields")?.classList.toggle("ready", ready);
    },

    /** Show which cards fit on a spot. */
    light(fitting) {
      all().forEach((one) => one.classList.toggle("fits-here", fitting.includes(one.dataset.card)));
    },

    /** What the arrow keys, Home and End lead to. */
    beside(name, key) {
      const at = names().indexOf(name);
      const along = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1 };
      const ways = { ...along, Home: 0, End: all().length - 1 };
      return names()[ways[key]] || name;
    },
  };
}
