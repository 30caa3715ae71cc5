// What is newer than the moment: how much of it a view leaves out, and the way to it.

import { changed, go } from "./address.js";
import { button, h, replace } from "./dom.js";
import { isFiltered, transactionQuery } from "./filters.js";
import { ask } from "./server.js";
import { momentNumber, session } from "./session.js";
import { newestButton } from "./steps.js";
import { count, counted } from "./values.js";

/** Tells how many transactions the list leaves out above its first, which is before `start`. */
export async function showNewer(element, start, signal) {
  element.hidden = start === undefined;
  if (start !== undefined) return showStart(element, start);
  const moment = momentNumber();
  if (moment === undefined || moment >= session.head) return;
  const { number, isLeast } = await countNewer(moment, signal);
  if (signal.aborted || (number === 0 && !isLeast)) return;
  element.hidden = false;
  const matching = isFiltered() ? ` that match${number === 1 ? "es" : ""}` : "";
  replace(element, h("p", { class: "warn" }, isLeast && "At least ",
    `${counted(number, "newer transaction")}${matching} ${number === 1 ? "is" : "are"} not shown: `,
    `the moment is transaction ${count(moment)}. `, newestButton()));
}

function showStart(element, start) {
  replace(element, h("p", {}, `The list begins at ${count(start - 1)}. `,
    button("From its top", () => go(changed({ show: null, before: null })))));
}

/** How many transactions after the moment meet the filters, or at least how many. */
async function countNewer(moment, signal) {
  if (!isFiltered()) return { number: session.head - moment, isLeast: false };
  const { before, ...asked } = transactionQuery();
  const { transactions, reached } = await ask("tally", { ...asked, after: moment }, signal);
  return { number: transactions, isLeast: reached !== undefined };
}
