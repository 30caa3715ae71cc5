// How wide texts are in the font of the page, for pictures that have to place them.

const ruler = document.createElement("canvas").getContext("2d");
let family;

/** The width of a text of a font size, both in pixels. */
export function widthOf(text, size) {
  family ??= getComputedStyle(document.documentElement).fontFamily;
  ruler.font = `${size}px ${family}`;
  return ruler.measureText(text).width;
}

/** As much of a text as fits; nothing if that is less than three letters. */
export function fitted(text, room, size) {
  const width = widthOf(text, size);
  if (width <= room) return text;
  let most = Math.floor((Math.max(0, room) / width) * text.length);
  const cut = () => `${text.slice(0, most).trimEnd()}…`;
  while (most >= 3 && widthOf(cut(), size) > room) most -= 1;
  return most >= 3 ? cut() : "";
}
