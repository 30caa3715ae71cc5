// Steps of the moment: by transaction, by day, by author; and how often they enter the history of the browser.

import { changed, current, go } from "./address.js";
import { button } from "./dom.js";
import { ask } from "./server.js";
import { session } from "./session.js";
import { day } from "./values.js";

let lastStep = 0;

/** Shows the state at a transaction. Quick steps replace each other, so that going back leaves them all. */
export function goTo(number, { replacing } = {}) {
  const now = performance.now();
  const isQuick = replacing ?? now - lastStep < 1200;
  lastStep = now;
  const bounded = Math.min(session.head, Math.max(session.base, number));
  go(changed({ at: bounded === session.head ? null : bounded }), { replacing: isQuick });
}

/** A button for the newest state. */
export function newestButton() {
  return button("Newest", () => go(changed({ at: null })));
}

export function number() {
  const asked = current().query.at;
  return /^\d+$/.test(asked ?? "") ? Number(asked) : session.moment?.number ?? session.head;
}

export function byTransaction(direction) {
  goTo(number() + direction);
}

/** To the last transaction not after a date, or to that of a number or token; refuses what is none. */
export async function toMoment(text) {
  const { moment } = await ask("moment", { at: text });
  goTo(moment.number, { replacing: false });
  return moment.number;
}

/** To the end of the day before, or of the next day on which something was written. */
export async function byDay(direction) {
  const here = (await ask("moment", { at: number() })).moment;
  if (!here.timestamp) {
    if (direction > 0) goTo(here.number + 1);
    return;
  }
  const today = day(here.timestamp);
  if (direction < 0) {
    const before = new Date(Date.parse(`${today}T12:00:00Z`) - 86400e3).toISOString().slice(0, 10);
    goTo(await lastOf(before) ?? session.base);
    return;
  }
  const end = Math.max(here.number, await lastOf(today) ?? here.number);
  if (end >= session.head) return goTo(session.head);
  const next = (await ask("moment", { at: end + 1 })).moment;
  goTo(Math.max(end + 1, await lastOf(day(next.timestamp)) ?? end + 1));
}

/** The last transaction of a day or before; nothing if the history begins later. */
async function lastOf(date) {
  try {
    return (await ask("moment", { at: date })).moment.number;
  } catch {
    return null;
  }
}

/** To the transaction of the same author before or after. */
export async function byAuthor(direction) {
  const author = session.moment?.author;
  if (author === undefined) return byTransaction(direction);
  const edge = direction < 0 ? { before: number() } : { after: number() };
  const found = (await ask("transactions", { author, limit: 1, ...edge })).transactions;
  if (found.length > 0) goTo(found[0].header.number);
}
