// Motion that explains a move. Nothing moves for those who have asked for stillness.

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const SVG = "http://www.w3.org/2000/svg";

/** Return a new element of a picture. */
export function drawing(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

/** Return the point of a picture that is under a point of the window. */
export function toPicture(svg, { x, y }) {
  const { x: across, y: down } = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
  return { x: across, y: down };
}

/** Return the point of the window where a point of a picture is. */
export function toWindow(svg, { x, y }) {
  const { x: across, y: down } = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  return { x: across, y: down };
}

/** Of some names, return the one whose middle is nearest to a point, "" if none is within reach. */
export function nearest(names, middle, at, reach) {
  const distance = (name) => Math.hypot(middle(name).x - at.x, middle(name).y - at.y);
  return names.filter((name) => distance(name) < reach).sort((one, two) => distance(one) - distance(two))[0] || "";
}

/** On a small screen, where the move is docked below, scroll so that the board and what is told of it are seen. */
export function bringIntoView(board) {
  requestAnimationFrame(() => {
    if (matchMedia("(max-width: 55.99rem) and (min-height: 30rem)").matches) {
      board.parentNode.scrollIntoView({ block: "nearest", behavior: still() ? "instant" : "smooth" });
    }
  });
}

/** Let an element show some frames; wait for the end. */
export async function animate(element, frames, timing) {
  if (element && !still()) {
    await element.animate(frames, timing).finished.catch(() => {});
  }
}
