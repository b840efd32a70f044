// Moves of Clans as text, and what a half-made one can still become.
//
// A half-made move is "A5" (huts picked up), "A5-B1" or "A5-B1 / B5" (villages still to be put in order).

export function read(text) {
  const [path, order = ""] = text.split("/");
  const [source, target = ""] = path.trim().split("-");
  return { source, target, order: order.split(" ").filter(Boolean) };
}

export function write({ source, target, order }) {
  return [source, target && `-${target}`, order.length && ` / ${order.join(" ")}`].filter(Boolean).join("");
}

/** What the rules allow, out of the list that the page holds. */
export function allowed(moves) {
  const bySource = new Map(); // territory -> the moves of its huts
  for (const move of moves) {
    const { source } = read(move);
    bySource.set(source, [...(bySource.get(source) || []), move]);
  }
  const from = (source) => bySource.get(source) || [];

  /** The whole moves that a half-made one can still become. */
  const ends = ({ source, target, order }) =>
    from(source).filter((move) => {
      const end = read(move);
      return end.target === target && order.every((name, place) => end.order[place] === name);
    });

  return {
    ends,
    any: (source) => bySource.has(source),
    targets: (source) => [...new Set(from(source).map((move) => read(move).target))],
    /** The villages from which the next one of the order can be chosen. */
    candidates: (draft) =>
      draft.target ? [...new Set(ends(draft).map((move) => read(move).order[draft.order.length]))].filter(Boolean) : [],
    /** The half-made move one step before another, "" if there is none. */
    before({ source, target, order }) {
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
  };
}
