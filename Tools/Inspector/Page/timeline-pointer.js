// What pointer, wheel and keys do in the picture of a timeline.

/**
 * Listens. A distance for `pan` and a place for `zoom` are parts of the width; `open` and `hover`
 * get the index of a bar, `hover` -1 if there is none at the pointer. Returns what ends it.
 */
export function listenToTimeline(scroller, body, { pan, zoom, reset, open, hover }) {
  const indexAt = (event) => Number(event.target.closest?.("[data-index]")?.dataset.index ?? -1);
  const stopDragging = listenToDrag(scroller, body, {
    pan, clicked: (event) => indexAt(event) >= 0 && open(indexAt(event)),
  });
  scroller.addEventListener("pointermove", (event) => hover(indexAt(event), event));
  scroller.addEventListener("pointerleave", (event) => hover(-1, event));
  scroller.addEventListener("wheel", (event) => {
    const { deltaX, deltaY } = event;
    const isSideways = Math.abs(deltaX) > Math.abs(deltaY);
    const canScroll = scroller.scrollHeight > scroller.clientHeight;
    if (canScroll && !event.ctrlKey && !event.shiftKey && !isSideways) return;
    event.preventDefault();
    const place = event.clientX - scroller.getBoundingClientRect().left;
    if (isSideways) pan(deltaX / scroller.clientWidth);
    else zoom(deltaY > 0 ? 1.2 : 1 / 1.2, place / scroller.clientWidth);
  }, { passive: false });
  const actions = {
    ArrowLeft: () => pan(-1 / 8), ArrowRight: () => pan(1 / 8), Home: reset,
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4),
  };
  scroller.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  });
  return stopDragging;
}

/** A drag pans; a press without one is a click. */
function listenToDrag(scroller, body, { pan, clicked }) {
  let start = null;
  let isMoved = false;
  const end = () => {
    start = null;
  };
  body.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    start = event.clientX;
    isMoved = false;
  });
  scroller.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const distance = event.clientX - start;
    if (!isMoved && Math.abs(distance) < 4) return;
    isMoved = true;
    start = event.clientX;
    pan(-distance / scroller.clientWidth);
  });
  body.addEventListener("click", (event) => !isMoved && clicked(event));
  addEventListener("pointerup", end);
  return () => removeEventListener("pointerup", end);
}
