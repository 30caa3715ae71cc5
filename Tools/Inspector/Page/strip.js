// The file to scale: pieces in the colours of their kinds, and how many bytes each kind has.

import { h, replace, s, setStyle } from "./dom.js";
import { bytes, count } from "./values.js";

const hues = {
  header: 0, slot: 8, transaction: 1, block: 3, chunk: 7, checkpoint: 4, "large value": 6, mixed: 5,
};

/** The colour of a kind of region. */
export function kindHue(kind) {
  return hues[kind?.replace(/ \d+$/, "")] ?? (kind === "damaged" ? "bad" : kind === "unwritten" ? "none" : 2);
}

const height = 26;

/** Draws a strip document; a click or Enter on a piece chooses its place. */
export function drawStrip(element, answer, width, { choose, marked }) {
  const { from, to, pieces } = answer;
  const span = Math.max(1, to - from);
  const x = (offset) => ((offset - from) / span) * width;
  const marker = h("div", { class: "strip-mark" });
  const label = h("div", { class: "hover", hidden: true });
  const bars = pieces.map((piece) => {
    const left = x(piece.offset);
    const own = Math.max(piece.isOk === false ? 2 : 0.7, x(piece.offset + piece.length) - left);
    return s("rect", {
      class: `fill hue-${piece.isOk === false ? "bad" : kindHue(mostOf(piece))}`, x: left.toFixed(2), y: 0,
      width: own.toFixed(2), height,
    });
  });
  // Pieces that are not in order lie above their neighbours, however thin they are.
  bars.sort((first, second) => first.classList.contains("hue-bad") - second.classList.contains("hue-bad"));
  const picture = h("div", { class: "strip-picture" },
    s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, bars), marker, label);
  const placeOf = (event) => from + ((event.clientX - picture.getBoundingClientRect().left) / width) * span;
  const pieceAt = (offset) => pieces.find((each) => each.offset <= offset && offset < each.offset + each.length);
  picture.addEventListener("click", (event) => choose(Math.floor(Math.max(0, Math.min(to - 1, placeOf(event))))));
  picture.addEventListener("pointermove", (event) => {
    const piece = pieceAt(placeOf(event));
    label.hidden = !piece;
    if (!piece) return;
    label.textContent = `${count(piece.offset)} · ${piece.count > 1 ? `${count(piece.count)} × ` : ""}${piece.kind} · ${bytes(piece.length)}`;
    setStyle(label, { left: Math.max(0, Math.min(event.offsetX + 10, width - label.offsetWidth - 4)) });
  });
  picture.addEventListener("pointerleave", () => { label.hidden = true; });
  replace(element, picture, legend(answer));
  element.mark = (offset, length) =>
    setStyle(marker, { left: x(offset), width: Math.max(2, x(offset + length) - x(offset)) });
  element.mark(...marked());
}

/** The kind of a piece; of several, the one with the most bytes. */
function mostOf({ kind, kinds }) {
  const [most] = Object.entries(kinds ?? {}).sort(([, first], [, second]) => second - first);
  return most?.[0] ?? kind;
}

/** How many bytes each kind has, the most first. */
function legend(answer) {
  const sums = new Map();
  for (const piece of answer.pieces) {
    const parts = piece.kinds ?? { [piece.isOk === false ? "damaged" : piece.kind]: piece.length };
    for (const [kind, length] of Object.entries(parts)) sums.set(kind, (sums.get(kind) ?? 0) + length);
  }
  const all = [...sums].sort(([, first], [, second]) => second - first);
  return h("ul", { class: "legend small" }, all.map(([kind, sum]) => h("li", { class: "nowrap" },
    h("span", { class: `swatch hue-${kindHue(kind)}`, "aria-hidden": "true" }), ` ${kind} `,
    h("span", { class: "soft" }, bytes(sum)))),
  (answer.progress ?? 1) < 1 && h("li", { class: "soft" }, `reading, ${Math.round(answer.progress * 100)} %`));
}
