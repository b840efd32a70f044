// The row of Clans and Glory as a table to play at: dragging, tapping and keys become moves in notation. The interface
// between this script and the page is told at the top of live.js; the hooks of the picture are those of pieces.py, those
// of the hand are in templates/games/glory/hand.html.
//
// A half-made move is "R5": a card picked. "R5 N7" is whole already; "R5 N7 shield" is the same with a shield on top.

const SVG = "http://www.w3.org/2000/svg";
const DRAG = 6; // pixels a pointer travels before it drags
const NEAR = 80; // units of the picture by which a dragged piece may miss its target
const EDGE = 48; // pixels from the edge of the row within which a dragged piece makes it scroll
const SLACK = 4; // pixels by which the row may stick out without anybody's missing something
const PAUSE = 1200; // milliseconds after which typing begins anew
const WIDE = 3; // columns of a place
const NOTHING = { card: "", spot: "", down: false, shield: false };
const COLOURS = { R: "red", O: "orange", Y: "yellow", G: "green", B: "blue", P: "purple", W: "white" };

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const number = (name) => Number(name.replace(/\D+/, ""));
const placeOf = (spot) => Math.ceil(number(spot) / WIDE);
const words = (card) => `${COLOURS[card[0]]} ${card[1]}`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const docked = () => matchMedia("(max-width: 55.99rem) and (min-height: 30rem)").matches; // as in table.css
const match = (card, other) => card[0] === other[0] || card[1] === other[1];

function read(text) {
  const [card = "", spot = "", ...more] = text.trim().split(/\s+/);
  return { card, spot, down: more.includes("down"), shield: more.includes("shield") };
}

function write({ card, spot, down, shield }) {
  return [card, spot, down && "down", shield && "shield"].filter(Boolean).join(" ");
}

function listed(names, last = "and") {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} ${last} ${names.at(-1)}` : names.join("");
}

export function mount(host) {
  let draft = NOTHING;
  let open = false; // whether cards may be laid on the picture
  let shown = ""; // the whole move that the picture previews
  let before = ""; // the one that it has previewed until this very moment
  let nodes = new Map(); // "N7" or "place 3" -> its element on the picture
  let cards = new Map(); // spot -> the card that lies there face up on the picture
  let stop = "N1"; // the one spot or place, and the one card, that the Tab key reaches
  let cardStop = "";
  let column = 2; // where the arrow keys came from when they went to a place
  let drag = null; // { piece, id, x, y, at, moved, source }
  let dragged = false; // whether the click that follows ends a drag
  let ghost = null; // what follows the pointer, or flies
  let scrolling = 0; // the animation frame that scrolls the row under a dragged piece
  let typed = { text: "", at: 0 };
  let keys = false; // whether the last thing touched was a key
  let begun = false; // whether the row has been scrolled to where something happened

  const svg = () => host.board.querySelector("svg");
  const hand = () => [...host.hand.querySelectorAll(".hand-card")];
  const inHand = (card) => hand().find((one) => one.dataset.card === card);
  const moves = () => host.view().moves;
  const usable = () => open || shown !== "";
  const spotAt = (element) => element?.closest?.(".spot")?.dataset.spot || "";
  const nameAt = (element) => {
    const place = element?.closest?.(".place");
    return spotAt(element) || (place ? `place ${place.dataset.place}` : "");
  };
  const middle = (name) => ({ x: Number(nodes.get(name).dataset.x), y: Number(nodes.get(name).dataset.y) });
  const title = (name) => {
    const called = host.names();
    return nodes.get(name).querySelector("title").textContent.replace(/player (\d)/g, (_, seat) => called[seat - 1]);
  };

  // --- what the rules allow, out of the list that the page holds

  const movesOf = (card) => moves().map(read).filter((move) => move.card === card);
  const targetsOf = (card) => [...new Set(movesOf(card).map(({ spot }) => spot))];
  const canMove = (card) => usable() && movesOf(card).length > 0;
  const faceDown = () => moves().length > 0 && read(moves()[0]).down;
  const legal = (move) => moves().includes(write(move));
  /** The same move with a shield if it has none, and without it if it has one. */
  const other = (move) => ({ ...move, shield: !move.shield });

  // --- what can be read of a spot, a place, a card

  function around(spot) {
    const at = number(spot);
    const side = spot[0];
    const beside = [at - 1, at + 1].map((next) => `${side}${next}`).filter((next) => nodes.has(next));
    const apart = host.view().table.options.row === "separate";
    const within = beside.filter((next) => !apart || placeOf(next) === placeOf(spot));
    return [`${side === "N" ? "S" : "N"}${at}`, ...within].filter((next) => cards.has(next));
  }

  /** The seat that laid the card of a spot, undefined if it lay there from the start. */
  const layer = (spot) =>
    shown && draft.spot === spot ? host.view().viewer : host.made().findLast(({ text }) => read(text).spot === spot)?.seat;

  function spotFact(spot) {
    const free = nodes.get(spot).classList.contains("free");
    if (!free) {
      const seat = layer(spot);
      const by = seat === undefined ? "there from the start" : `laid by ${host.names()[seat]}`;
      return `${title(spot)}${cards.has(spot) ? `, ${by}` : ""}.`;
    }
    const near = around(spot).map((one) => cards.get(one));
    if (!near.length) {
      return `${spot}: free. No face-up card is opposite or beside it, so none fits.`;
    }
    const lie = listed(around(spot).map((one) => `${words(cards.get(one))} on ${one}`));
    const colours = [...new Set(near.map((card) => COLOURS[card[0]]))];
    const strengths = [...new Set(near.map((card) => card[1]))].sort();
    const own = host.view().table.hand?.filter((card) => card !== draft.card || !draft.spot) || [];
    const fitting = own.filter((card) => near.some((one) => match(card, one)));
    const yours = own.length ? ` Of yours: ${listed(fitting) || "none"}.` : "";
    return `${spot}: free, next to ${lie}. What fits: ${listed(colours, "or")}, or a ${listed(strengths, "or")}.${yours}`;
  }

  /** The shields of a place in order, what each takes, and what one more would. */
  function placeFact(name) {
    const place = number(name);
    const stack = host.board.querySelectorAll(`.shield[data-place="${place}"]`).length;
    const found = [...cards].filter(([spot]) => placeOf(spot) === place).map(([, card]) => Number(card[1]));
    const strength = [...new Set(found)].sort((a, b) => a - b)[stack];
    const count = found.filter((one) => one === strength).length;
    const gain = strength ? `${strength * count} (${count} of strength ${strength})` : "nothing";
    const next = host.view().outcome ? "" : ` ${stack ? "One more shield" : "A shield"} would take ${gain} as it stands.`;
    return `${title(name).replace(": ", stack ? ": first " : ": ")}.${next}`;
  }

  const fact = (name) => (name.startsWith("place") ? placeFact(name) : spotFact(name));

  function cardFact(card) {
    if (usable() && faceDown()) {
      return `${capital(words(card))} can be laid face down on any free spot.`;
    }
    const targets = host.view().table.fits[card];
    return `${capital(words(card))} fits ${targets.length ? `on ${listed(targets)}` : "nowhere now"}.`;
  }

  // --- a half-made move grows and shrinks

  function pick(card) {
    if (!usable()) {
      return;
    }
    if (card === draft.card && !draft.spot) {
      put(NOTHING);
      host.say(`${capital(words(card))} put down.`);
    } else if (canMove(card)) {
      put({ ...NOTHING, card });
      host.tell(cardFact(card));
      host.say(`Picked. ${cardFact(card)}`);
      const lit = targetsOf(card).sort((one, two) => distance(one) - distance(two));
      if (docked()) {
        host.board.scrollIntoView({ block: "nearest" });
      }
      if (keys) {
        focus(lit[0]);
      } else if (!lit.some(visible)) {
        reveal(lit[0]);
      }
    } else {
      host.tell(cardFact(card));
      host.say(cardFact(card));
    }
  }

  function choose(name) {
    if (open && draft.card && targetsOf(draft.card).includes(name)) {
      put({ ...NOTHING, card: draft.card, spot: name, down: faceDown() });
    } else if (shown && name === `place ${placeOf(draft.spot)}`) {
      crown();
    } else if (open && draft.card) {
      const why = whyNot(name);
      host.tell(why);
      host.say(why);
    } else if (open && nodes.get(name).classList.contains("free")) {
      const fitting = hand().filter(({ dataset }) => targetsOf(dataset.card).includes(name));
      hand().forEach((one) => one.classList.toggle("fits-here", fitting.includes(one)));
    }
  }

  /** Why the card picked cannot be laid there. */
  function whyNot(name) {
    if (name.startsWith("place")) {
      return `${draft.card} is laid on a spot north or south of ${name}, not on the place itself.`;
    }
    const free = nodes.get(name).classList.contains("free");
    return free ? `${draft.card} does not fit on ${name}. ${spotFact(name)}` : `${name} is taken: ${spotFact(name)}`;
  }

  /** Put a shield on the place just played, or take it back. */
  function crown() {
    if (shown && legal(other(draft))) {
      put(other(draft));
    } else if (shown) {
      host.say("You have no shield left.");
    }
  }

  function put(next) {
    draft = next;
    paint();
    host.draft(write(draft), "");
  }

  /** Show the half-made move on row and hand. */
  function paint() {
    const lit = open && draft.card && !draft.spot ? targetsOf(draft.card) : [];
    const crowned = draft.spot && shown ? `place ${placeOf(draft.spot)}` : "";
    for (const [name, node] of nodes) {
      const target = lit.includes(name);
      node.classList.toggle("target", target);
      node.classList.toggle("crowned", name === crowned);
      const said = target ? ` ${capital(words(draft.card))} ${faceDown() ? "can be laid face down" : "fits"} here.` : "";
      node.setAttribute("aria-label", `${fact(name)}${said}`);
      node.setAttribute("aria-selected", String(name === draft.spot));
    }
    for (const one of hand()) {
      const { card } = one.dataset;
      const picked = card === draft.card && usable();
      one.classList.toggle("picked", picked && !draft.spot);
      one.classList.toggle("laid", picked && draft.spot !== "");
      one.classList.toggle("can-move", canMove(card));
      one.classList.remove("fits-here");
      if (usable()) {
        const state = draft.spot ? ` About to be laid on ${draft.spot}.` : " Picked.";
        one.setAttribute("aria-label", `${cardFact(card)}${picked ? state : ""}`);
        one.setAttribute("aria-selected", String(picked));
      }
    }
    svg().classList.toggle("laying", lit.length > 0);
    const ready = shown !== "" && !draft.shield && legal(other(draft));
    host.hand.querySelector(".own-shields")?.classList.toggle("ready", ready);
    countOutside();
  }

  // --- the picture

  /** Make a picture that has just been put on the page usable by pointer and keyboard. */
  function prepare() {
    clear();
    nodes = new Map();
    host.board.querySelectorAll(".spot, .place").forEach((node) => nodes.set(nameAt(node), node));
    cards = new Map(
      [...host.board.querySelectorAll(".pieces .card[data-card]")].map(({ dataset }) => [dataset.spot, dataset.card]),
    );
    host.board.querySelector(".land").setAttribute("aria-hidden", "true");
    for (const [group, label] of Object.entries({ spots: "Spots", places: "Places" })) {
      const list = host.board.querySelector(`.${group}`);
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", label);
    }
    for (const [name, node] of nodes) {
      node.setAttribute("role", "option");
      node.setAttribute("tabindex", name === stop ? "0" : "-1");
    }
    host.board.querySelectorAll(".pieces > .card, .mark, .gain").forEach((one) => one.setAttribute("aria-hidden", "true"));
    host.board.querySelectorAll(".shield").forEach((one) => {
      const { place, seat } = one.dataset;
      const stack = [...one.parentNode.querySelectorAll(".shield")].reverse();
      one.setAttribute("role", "img");
      const order = `${stack.indexOf(one) + 1} of ${stack.length}`;
      one.setAttribute("aria-label", `Shield ${order} on place ${place}: ${host.names()[seat]}`);
    });
    prepareHand();
    if (!begun) {
      begun = true;
      const marks = host.board.querySelectorAll(".mark");
      const { spot, place } = marks[marks.length - 1]?.dataset || {};
      reveal(spot || (place ? `place ${place}` : stop), "instant");
    }
  }

  function prepareHand() {
    host.hand.classList.toggle("docked", usable());
    const list = host.hand.querySelector(".hand-cards");
    if (!list || !usable()) {
      return;
    }
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-orientation", "horizontal");
    list.setAttribute("aria-label", "Your hand");
    if (!inHand(cardStop)) {
      cardStop = hand()[0].dataset.card;
    }
    for (const one of hand()) {
      one.setAttribute("role", "option");
      one.setAttribute("tabindex", one.dataset.card === cardStop ? "0" : "-1");
    }
  }

  function focus(name) {
    nodes.get(stop)?.setAttribute("tabindex", "-1");
    stop = name;
    nodes.get(name).setAttribute("tabindex", "0");
    nodes.get(name).focus({ preventScroll: true });
    nodes.get(name).scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    reveal(name, "instant");
  }

  function focusCard(card) {
    inHand(cardStop)?.setAttribute("tabindex", "-1");
    cardStop = card;
    inHand(card).setAttribute("tabindex", "0");
    inHand(card).focus();
  }

  // --- the row scrolls

  /** How far a spot or place sticks out of the visible part of the row: to the left below 0, to the right above. */
  function outside(name, room = 0) {
    const frame = host.board.getBoundingClientRect();
    const box = nodes.get(name).querySelector(".shape").getBoundingClientRect();
    if (box.width + 2 * room > frame.width) {
      return (box.left + box.right - frame.left - frame.right) / 2;
    }
    return Math.min(0, box.left - room - frame.left) || Math.max(0, box.right + room - frame.right);
  }

  const visible = (name) => Math.abs(outside(name)) < 8;

  function distance(name) {
    const frame = host.board.getBoundingClientRect();
    const box = nodes.get(name).getBoundingClientRect();
    return Math.abs(box.left + box.right - frame.left - frame.right);
  }

  function reveal(name, behavior = still() ? "instant" : "smooth") {
    const by = outside(name, 40);
    if (by) {
      host.board.scrollBy({ left: by, behavior });
    }
  }

  /** Tell at the edges of the row whether it goes on there, and how many lit spots lie beyond. */
  function countOutside() {
    const { scrollLeft, scrollWidth, clientWidth } = host.board;
    host.board.classList.toggle("more-before", scrollLeft > SLACK);
    host.board.classList.toggle("more-after", scrollLeft + clientWidth < scrollWidth - SLACK);
    const lit = [...nodes.keys()].filter((name) => nodes.get(name).classList.contains("target"));
    const left = lit.filter((name) => outside(name) < -20).length;
    const right = lit.filter((name) => outside(name) > 20).length;
    const frame = host.board.parentNode;
    Object.entries({ moreLeft: left, moreRight: right }).forEach(([edge, count]) => {
      if (count) {
        frame.dataset[edge] = count;
      } else {
        delete frame.dataset[edge];
      }
    });
  }

  host.board.addEventListener("scroll", countOutside, { passive: true });
  addEventListener("resize", () => nodes.size && countOutside());

  // --- keys

  /** What an arrow key leads to: along a side, or across by way of the place in between. */
  function beside(name, key) {
    const place = name.startsWith("place");
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step) {
      return `${place ? "place " : name[0]}${number(name) + step}`;
    }
    if (place) {
      const at = placeOf(`N${column}`) === number(name) ? column : WIDE * number(name) - 1;
      return `${key === "ArrowUp" ? "N" : "S"}${at}`;
    }
    column = number(name);
    return (name[0] === "N") === (key === "ArrowDown") ? `place ${placeOf(name)}` : "";
  }

  function edge(name, key) {
    const last = [...nodes.keys()].filter((one) => one.startsWith("place")).length;
    const place = name.startsWith("place");
    return `${place ? "place " : name[0]}${key === "Home" ? 1 : last * (place ? 1 : WIDE)}`;
  }

  /** Go to the card or spot whose name is typed, or to the place of a number alone. Return whether it was such a key. */
  function type(event) {
    if (!/^[a-z0-9]$/i.test(event.key)) {
      return false;
    }
    const text = (event.timeStamp - typed.at < PAUSE ? typed.text : "") + event.key.toUpperCase();
    typed = { text, at: event.timeStamp };
    const found = [text, text.slice(-3), text.slice(-2)].find((name) => nodes.has(name) || (usable() && inHand(name)));
    if (found && nodes.has(found)) {
      focus(found);
    } else if (found) {
      focusCard(found);
    } else if (text.length === 1 && nodes.has(`place ${text}`)) {
      focus(`place ${text}`);
    }
    return true;
  }

  function onKey(event, act) {
    keys = true;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "Escape" && (drag || (open && draft.card))) {
      const { card } = draft;
      drop();
      put(NOTHING);
      host.say("Cancelled.");
      if (inHand(card)) {
        focusCard(card);
      }
    } else if (!act() && !type(event)) {
      return;
    }
    event.preventDefault();
  }

  host.board.addEventListener("keydown", (event) => {
    const name = nameAt(event.target);
    if (!name) {
      return;
    }
    onKey(event, () => {
      if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") {
        const next = event.key.startsWith("Arrow") ? beside(name, event.key) : edge(name, event.key);
        if (nodes.has(next)) {
          focus(next);
        }
      } else if (event.key !== "Enter" && event.key !== " ") {
        return false;
      } else if (!event.repeat) {
        choose(name);
      }
      return true;
    });
  });

  host.hand.addEventListener("keydown", (event) => {
    const card = event.target.closest(".hand-card")?.dataset.card;
    if (!card) {
      return;
    }
    onKey(event, () => {
      const all = hand().map((one) => one.dataset.card);
      const at = all.indexOf(card);
      const steps = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1 };
      const ways = { ...steps, Home: 0, End: all.length - 1 };
      if (Object.hasOwn(ways, event.key)) {
        focusCard(all[ways[event.key]] || card);
      } else if (event.key !== "Enter" && event.key !== " ") {
        return false;
      } else if (!event.repeat) {
        pick(card);
      }
      return true;
    });
  });

  host.board.addEventListener("focusin", (event) => {
    const name = nameAt(event.target);
    if (name) {
      nodes.get(stop)?.setAttribute("tabindex", "-1");
      stop = name;
      nodes.get(name).setAttribute("tabindex", "0");
      host.tell(pointed(name));
    }
  });

  host.hand.addEventListener("focusin", (event) => {
    const card = event.target.closest(".hand-card")?.dataset.card;
    if (card) {
      inHand(cardStop)?.setAttribute("tabindex", "-1");
      cardStop = card;
      inHand(card).setAttribute("tabindex", "0");
      host.tell(cardFact(card));
    }
  });

  // --- pieces on their way

  /** A copy of a drawing above the whole page, of the size that it has on the row. */
  function raise(drawing, box, radius) {
    ghost?.remove();
    const scale = svg().getBoundingClientRect().width / svg().viewBox.baseVal.width;
    const { x, y } = radius ? { x: radius, y: radius } : { x: 47, y: 67 };
    ghost = document.createElement("div");
    ghost.className = "glory-ghost";
    ghost.setAttribute("aria-hidden", "true");
    ghost.innerHTML = `<svg viewBox="${-x} ${-y} ${2 * x} ${2 * y}"><use href="#glory-${drawing}"/></svg>`;
    ghost.style.width = `${2 * x * scale}px`;
    document.body.append(ghost);
    hold(box);
  }

  const hold = ({ x, y }) => (ghost.style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`);
  const centre = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { x: (left + right) / 2, y: (top + bottom) / 2 };
  };

  /** Let a drawing fly from a point of the window to a point of the picture, and stay there. */
  async function fly(drawing, from, to, radius = 0) {
    const matrix = svg().getScreenCTM();
    const end = new DOMPoint(to.x, to.y).matrixTransform(matrix);
    if (!still()) {
      raise(drawing, from, radius);
      const way = Math.hypot(end.x - from.x, end.y - from.y);
      const frames = [from, end].map(({ x, y }) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%)` }));
      const duration = Math.min(450, 140 + way / 2);
      const flying = ghost.animate(frames, { duration, easing: "ease-in-out", fill: "forwards" });
      await flying.finished.catch(() => {});
    }
    lay(drawing, to);
    clear();
  }

  function lay(drawing, to) {
    const piece = document.createElementNS(SVG, "use");
    piece.setAttribute("href", `#glory-${drawing}`);
    piece.setAttribute("class", "walked");
    piece.setAttribute("transform", `translate(${to.x} ${to.y})`);
    svg().append(piece);
  }

  function clear() {
    ghost?.remove();
    ghost = null;
  }

  /** Where the next shield of a place will lie; as in layout.py. */
  function nextShield(place) {
    const { x, width } = nodes.get(`place ${place}`).querySelector(".shape");
    const count = host.board.querySelectorAll(`.shield[data-place="${place}"]`).length;
    const [first, last] = [x.baseVal.value + 102, x.baseVal.value + width.baseVal.value - 32];
    return { x: first + count * Math.min(54, (last - first) / Math.max(count, 1)), y: middle(`place ${place}`).y - 10 };
  }

  // --- pointers

  /** What the dragged piece would go to: the legal target under the pointer, or the one that it has only just missed. */
  function aimedAt({ x, y }) {
    const frame = host.board.getBoundingClientRect();
    if (y < frame.top - 30 || y > frame.bottom + 30) {
      return "";
    }
    const goals = drag.shield ? [`place ${placeOf(draft.spot)}`] : targetsOf(drag.card);
    const under = nameAt(document.elementFromPoint(x, y));
    const meant = drag.shield && under ? `place ${nodes.get(under).dataset.place}` : under;
    if (meant) {
      return goals.includes(meant) ? meant : "";
    }
    const at = new DOMPoint(x, y).matrixTransform(svg().getScreenCTM().inverse());
    const missed = (name) => Math.hypot(middle(name).x - at.x, middle(name).y - at.y);
    return goals.filter((name) => missed(name) < NEAR).sort((one, two) => missed(one) - missed(two))[0] || "";
  }

  function follow() {
    const { at, touch } = drag;
    hold({ x: at.x, y: at.y - (touch ? 44 : 6) }); // so that a finger does not hide what it holds
    const aim = aimedAt(at);
    nodes.forEach((node, name) => node.classList.toggle("over", name === aim));
    host.tell(aim ? fact(aim) : drag.card ? cardFact(drag.card) : "A shield: put it on the place just played.");
    const frame = host.board.getBoundingClientRect();
    const inside = at.y > frame.top - 20 && at.y < frame.bottom + 20;
    const [left, right] = [Math.max(frame.left, 0) + EDGE, Math.min(frame.right, innerWidth) - EDGE];
    const by = inside ? Math.min(0, at.x - left) || Math.max(0, at.x - right) : 0;
    cancelAnimationFrame(scrolling);
    if (by) {
      scrolling = requestAnimationFrame(() => {
        host.board.scrollLeft += by / 5;
        follow();
      });
    }
  }

  /** Let go of what is held. Return where it would go, "" if nowhere. */
  function drop() {
    const aim = drag?.moved ? aimedAt(drag.at) : "";
    cancelAnimationFrame(scrolling);
    if (drag?.moved) {
      drag.source.classList.remove("dragged");
      nodes.forEach((node) => node.classList.remove("over"));
      dragged = true;
      setTimeout(() => (dragged = false)); // the click follows at once, or not at all
    }
    drag = null;
    return aim;
  }

  function grab(event, source, piece) {
    keys = false;
    if (event.button === 0 && event.isPrimary && !drag) {
      const at = { x: event.clientX, y: event.clientY };
      drag = { ...piece, source, id: event.pointerId, from: at, at, moved: false, touch: event.pointerType !== "mouse" };
    }
  }

  host.hand.addEventListener("pointerdown", (event) => {
    const one = event.target.closest(".hand-card");
    const shields = event.target.closest(".own-shields.ready");
    if (one && canMove(one.dataset.card)) {
      grab(event, one, { card: one.dataset.card });
    } else if (shields) {
      grab(event, shields, { shield: true });
    }
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    drag.at = { x: event.clientX, y: event.clientY };
    if (!drag.moved) {
      if (Math.hypot(drag.at.x - drag.from.x, drag.at.y - drag.from.y) < DRAG) {
        return;
      }
      drag.moved = true;
      drag.source.setPointerCapture(event.pointerId);
      drag.source.classList.add("dragged");
      if (drag.card && (draft.card !== drag.card || draft.spot)) {
        put({ ...NOTHING, card: drag.card });
      }
      const shield = `shield-${host.view().viewer + 1}`;
      raise(drag.shield ? shield : faceDown() ? "back" : `card-${drag.card}`, drag.at, drag.shield ? 30 : 0);
    }
    follow();
  });

  document.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    const { moved, card } = drag;
    const aim = drop();
    if (aim && card) {
      put({ ...NOTHING, card, spot: aim, down: faceDown() });
    } else if (aim) {
      crown();
    } else if (moved) {
      clear();
      if (card) {
        put(NOTHING);
      }
    }
  });

  document.addEventListener("pointercancel", (event) => {
    if (drag && event.pointerId === drag.id) {
      const { moved, card } = drag;
      drag.at = { x: -1, y: -1 };
      drop();
      clear();
      if (moved && card) {
        put(NOTHING);
      }
    }
  });

  host.hand.addEventListener("click", (event) => {
    const card = event.target.closest(".hand-card")?.dataset.card;
    if (!dragged && event.detail < 2 && event.target.closest(".own-shields.ready")) {
      crown();
    } else if (card && !dragged && event.detail < 2) {
      keys = false;
      pick(card);
    }
  });

  host.board.addEventListener("click", (event) => {
    const name = nameAt(event.target);
    keys = false;
    if (dragged || event.detail > 1) {
      return;
    }
    if (name) {
      host.tell(pointed(name));
      if (!event.shiftKey) {
        choose(name);
      }
    } else if (open && draft.card) {
      put(NOTHING);
    }
  });

  host.board.addEventListener("contextmenu", (event) => {
    const name = nameAt(event.target);
    if (name) {
      event.preventDefault();
      host.tell(fact(name));
    }
  });

  const pointAt = (event) => {
    const name = nameAt(event.target);
    const card = event.target.closest(".hand-card")?.dataset.card;
    if (!drag && event.pointerType === "mouse" && (name || card)) {
      host.tell(name ? pointed(name) : cardFact(card));
    }
  };
  const pointAway = (event) => {
    if (!drag && event.pointerType === "mouse") {
      host.tell(rest());
    }
  };
  for (const part of [host.board, host.hand]) {
    part.addEventListener("pointerover", pointAt);
    part.addEventListener("pointerleave", pointAway);
  }

  /** What is told of the spot or place pointed at: of the card just laid, what its place gives now. */
  const pointed = (name) => (shown && name === draft.spot ? rest() : fact(name));

  /** What is told while nothing is pointed at: the place just played, the card picked. */
  function rest() {
    return draft.spot ? fact(`place ${placeOf(draft.spot)}`) : draft.card ? cardFact(draft.card) : "";
  }

  // --- what the page asks of this table

  return {
    get hint() {
      const how = faceDown()
        ? "None of your cards fits anywhere: lay one face down on any free spot."
        : "Pick a card, then one of the spots that light up, or drag it there. A shield may follow onto that place.";
      return `${how} With the keyboard: arrow keys, Enter, Escape.`;
    },

    enter(text) {
      before = shown;
      queueMicrotask(() => (before = ""));
      shown = "";
      open = true;
      host.board.querySelectorAll(".walked").forEach((one) => one.remove());
      draft = canMove(read(text).card) ? { ...NOTHING, card: read(text).card } : NOTHING;
      prepare();
      paint();
      host.tell(rest());
      return "";
    },

    look(text) {
      open = false;
      shown = text;
      draft = text ? read(text) : NOTHING;
      host.board.querySelectorAll(".walked").forEach((one) => one.remove());
      prepare();
      paint();
      host.tell(rest());
      if (text) {
        reveal(draft.spot);
        requestAnimationFrame(() => docked() && host.board.scrollIntoView({ block: "nearest" })); // above the docked move
      }
    },

    back: (text) => (read(text).spot ? read(text).card : ""),

    async walk(text) {
      const { card, spot, down, shield } = read(text);
      if (!nodes.has(spot) || host.board.querySelector(`.pieces .card[data-spot="${spot}"]`)) {
        clear();
        return;
      }
      const lying = read(before).spot === spot && read(before).card === card;
      const place = placeOf(spot);
      const mine = inHand(card);
      const above = (name) => {
        const { x, y } = centre(nodes.get(name));
        return { x, y: y - 160 };
      };
      reveal(spot, "instant");
      const start = ghost && !lying ? centre(ghost) : mine?.offsetParent ? centre(mine) : above(spot);
      const held = ghost && lying ? centre(ghost) : null;
      mine?.classList.add("laid");
      const drawing = down || !COLOURS[card[0]] ? "back" : `card-${card}`;
      if (lying) {
        lay(drawing, middle(spot));
      } else {
        await fly(drawing, start, middle(spot));
      }
      if (shield && nodes.has(spot)) {
        const seat = host.view().to_act[0] ?? 0;
        const own = document.getElementById("with-shield")?.querySelector("svg");
        const from = held || (mine && own?.getClientRects().length ? centre(own) : above(`place ${place}`));
        await fly(`shield-${seat + 1}`, from, nextShield(place), 30);
      }
    },

    busy: () => Boolean(drag),

    more(text) {
      const move = read(text);
      const place = placeOf(move.spot);
      if (!legal(other(move))) {
        const none = document.createElement("span");
        none.className = "faint";
        none.textContent = "You have no shield left to put there.";
        return [none];
      }
      const button = document.createElement("button");
      const shape = `<use href="#glory-shield-${host.view().viewer + 1}"/>`;
      const icon = `<svg class="shield-icon" viewBox="-31 -31 62 62" aria-hidden="true" focusable="false">${shape}</svg>`;
      button.type = "button";
      button.id = "with-shield";
      button.className = "quiet small";
      button.innerHTML = `${icon} ${move.shield ? "Take the shield back" : `Put a shield on place ${place}`}`;
      button.addEventListener("pointerdown", (event) => !move.shield && grab(event, button, { shield: true }));
      button.addEventListener("click", () => !dragged && crown());
      return [button];
    },
  };
}
