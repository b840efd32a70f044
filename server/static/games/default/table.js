// The table of a game that brings none of its own: moves are chosen from the links or written.
// The interface is told at the top of live.js.

export function mount() {
  return {
    hint: "",
    enter: () => "",
    look() {},
    back: () => "",
    walk: () => Promise.resolve(),
    busy: () => false,
  };
}
