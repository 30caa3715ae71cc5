// The lanes of a timeline's bars: within their group, so that bars and their labels lie beside each other.

import { widthOf } from "./text-width.js";

/** The font size of a label, in pixels. */
export const labelSize = 11;
const longestLabel = 150;

/** The dates that a picture shows at first: what goes on without an end does not stretch it. */
export function extentOf(answer) {
  let end = answer.startUs;
  for (const bar of answer.bars) end = Math.max(end, bar.kind === "ongoing" ? bar.startUs : bar.endUs ?? bar.startUs);
  const span = Math.max(86400e6, end - answer.startUs);
  return { from: answer.startUs - span * 0.01, to: Math.min(Math.max(answer.endUs, end), end + span * 0.1) + span * 0.04 };
}

/**
 * Gives each bar its lane and the place of its group, for a picture of some width that shows everything.
 * Returns how many lanes each group has.
 */
export function pack(answer, width) {
  const groups = Math.max(1, answer.groups?.length ?? 0);
  const ends = Array.from({ length: groups }, () => []);
  const { from, to } = extentOf(answer);
  const scale = Math.max(200, width) / (to - from);
  for (const bar of answer.bars) {
    bar.place = bar.group ?? groups - 1;
    const start = (bar.startUs - answer.startUs) * scale;
    const length = bar.kind === "single" ? 0 : (bar.endUs - bar.startUs) * scale;
    const label = Math.min(longestLabel, widthOf(bar.label ?? "", labelSize)) + 10;
    const end = start + (length > label ? length : length + label + 6) + 4;
    const own = ends[bar.place];
    let lane = own.findIndex((each) => each <= start);
    if (lane < 0) lane = own.length;
    own[lane] = end;
    bar.lane = lane;
  }
  return ends.map((each) => Math.max(1, each.length));
}
