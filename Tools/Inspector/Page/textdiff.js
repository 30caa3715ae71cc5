// What differs between two values: words within a text, members of a JSON value.

import { h } from "./dom.js";
import { valueAddress } from "./server.js";
import { count, counted, textClass, value } from "./values.js";

const mostPieces = 1500;

/** Two texts as pieces [kind, text], kind being same, was or now; nothing if they share too little. */
export function pieces(before, after) {
  const first = split(before);
  const second = split(after);
  if (first.length + second.length > mostPieces) return ends(before, after);
  const script = compare(first, second);
  const shared = script.reduce((sum, [kind, text]) => sum + (kind === "same" && text.trim() ? text.length : 0), 0);
  return shared * 4 < Math.min(before.length, after.length) ? null : joined(script);
}

function split(text) {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The common beginning and end, for texts that are too long to compare by word. */
function ends(before, after) {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return [
    ["same", before.slice(0, start)], ["was", before.slice(start, before.length - end)],
    ["now", after.slice(start, after.length - end)], ["same", before.slice(before.length - end)],
  ].filter(([, text]) => text);
}

/** The shortest script by a table of longest common subsequences. */
function compare(first, second) {
  const width = second.length + 1;
  const table = new Uint16Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = first[i] === second[j]
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const script = [];
  let i = 0;
  let j = 0;
  while (i < first.length || j < second.length) {
    if (i < first.length && j < second.length && first[i] === second[j]) {
      script.push(["same", first[i]]);
      i += 1;
      j += 1;
    } else if (j >= second.length || (i < first.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      script.push(["was", first[i]]);
      i += 1;
    } else {
      script.push(["now", second[j]]);
      j += 1;
    }
  }
  return script;
}

/** Neighbours of one kind as one piece; what was removed comes before what was added. */
function joined(script) {
  const result = [];
  let was = "";
  let now = "";
  const flush = () => {
    if (was) result.push(["was", was]);
    if (now) result.push(["now", now]);
    was = "";
    now = "";
  };
  script.forEach(([kind, text], place) => {
    const isBridge = kind === "same" && /^\s+$/.test(text) && (was || now)
      && script[place + 1] && script[place + 1][0] !== "same";
    if (kind === "was" || isBridge) was += text;
    if (kind === "now" || isBridge) now += text;
    if (kind !== "same" || isBridge) return;
    flush();
    if (result.at(-1)?.[0] === "same") result.at(-1)[1] += text;
    else result.push(["same", text]);
  });
  flush();
  return result;
}

const element = { same: "span", was: "del", now: "ins" };

function shown(script) {
  return script.map(([kind, text]) => (kind === "same" ? text : h(element[kind], { class: kind }, text)));
}

/** What was cut off differs, and nobody knows how: differences at the end of what is shown say nothing. */
function withoutEnd(script) {
  const last = script.findLastIndex(([kind]) => kind === "same");
  return script.slice(0, last + 1);
}

/**
 * Before → after of one property, as closely as the two values permit. `shows` says which places of two long texts are
 * there: from where the first is (`start`), the others (`places`), and how many are not (`morePlaces`).
 */
export function difference(before, after, where, shows = {}) {
  if (!before || before.kind === "null") return h("ins", { class: "now value" }, plain(after, where?.("after")));
  if (!after || after.kind === "null") {
    return h("span", { class: "value" }, h("del", { class: "was" }, plain(before, where?.("before"))),
      h("span", { class: "soft" }, " → nil"));
  }
  if (!before.isCut && !after.isCut && isJSON(before) && isJSON(after)) {
    const lines = jsonDifference(before.text, after.text);
    if (lines) return lines;
  }
  if (shows.start !== undefined) return placesOf(before.text, after.text, where, shows);
  if (before.kind === "string" && after.kind === "string" && !isShort(before.text, after.text)) {
    const isCut = before.isCut || after.isCut;
    const all = pieces(before.text, after.text);
    const script = all && isCut ? withoutEnd(all) : all;
    if (script?.some(([kind]) => kind === "same")) {
      const isMarked = script.some(([kind]) => kind !== "same");
      return h("span", { class: "value text" }, shown(script),
        isCut && h("span", { class: "soft" }, isMarked ? "…" : "… differs further on"));
    }
  }
  const kindOf = ({ kind }) => before.kind !== after.kind && h("span", { class: "soft small" }, ` (${kind})`);
  return h("span", { class: "value" },
    h("del", { class: "was" }, plain(before, where?.("before"))), kindOf(before), h("span", { class: "soft" }, " → "),
    h("ins", { class: "now" }, plain(after, where?.("after"))), kindOf(after));
}

/** A word, a number, a date: what differs within it says less than both. */
function isShort(before, after) {
  return Math.max(before.length, after.length) <= 24 && !/\s/.test(before + after);
}

/** The places at which two long texts differ, with what is around each, and a way to the whole texts if there are more. */
function placesOf(before, after, where, { start, line, isWhole, places = [], morePlaces }) {
  const all = [{ line, before, after, isWhole }, ...places];
  return h("span", { class: textClass(after) },
    all.map((each, index) => h("span", { class: "place" },
      each.line ? h("span", { class: "soft small" }, `line ${count(each.line)}: `)
        : (index > 0 || start > 0) && h("span", { class: "soft" }, "… "), placeOf(each))),
    h("span", { class: "soft" }, "…"),
    morePlaces > 0 && h("span", { class: "soft small" }, ` and ${counted(morePlaces, "more place")}`,
      where?.("before") && [": the text ", h("a", { href: valueAddress(where("before")) }, "before"), " and ",
        h("a", { href: valueAddress(where("after")) }, "after")]));
}

function placeOf({ before, after, isWhole }) {
  const all = pieces(before, after);
  const cut = all && !isWhole ? withoutEnd(all) : all;
  if (cut?.some(([kind]) => kind !== "same")) return [shown(cut), isWhole ? null : h("span", { class: "soft" }, "… ")];
  return [["was", before], ["now", after]].filter(([, text]) => text)
    .map(([kind, text]) => h(element[kind], { class: kind }, text, isWhole ? null : "… "));
}

/** Whether a value is JSON, or a text that holds an object or a list. */
function isJSON(cell) {
  return cell.kind === "json" || (cell.kind === "string" && /^\s*[[{]/.test(cell.text));
}

function plain(cell, where) {
  return value(cell, where);
}

function jsonDifference(before, after) {
  let lines;
  try {
    lines = members(JSON.parse(before), JSON.parse(after), "");
  } catch {
    return null;
  }
  return h("span", { class: "value" }, lines.slice(0, 100).map(([path, was, now]) =>
    h("span", { class: "member" }, h("span", { class: "soft mono" }, `${path || "value"}: `),
      was !== undefined && h("del", { class: "was mono" }, JSON.stringify(was)),
      was !== undefined && now !== undefined && h("span", { class: "soft" }, " → "),
      now !== undefined && h("ins", { class: "now mono" }, JSON.stringify(now)))));
}

/** The members that differ, as [path, before, after]. */
export function members(before, after, path) {
  const isObject = (each) => typeof each === "object" && each !== null && !Array.isArray(each);
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => members(before[name], after[name], path ? `${path}.${name}` : name));
  }
  if (Array.isArray(before) && Array.isArray(after)) return elements(before, after, path);
  return [[path, before, after]];
}

/** The elements of two lists that differ, between what is equal at their beginning and at their end. */
function elements(before, after, path) {
  const isEqual = (first, second) => JSON.stringify(first) === JSON.stringify(second);
  let start = 0;
  while (start < Math.min(before.length, after.length) && isEqual(before[start], after[start])) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && isEqual(before[before.length - 1 - end], after[after.length - 1 - end])) end += 1;
  const was = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  return Array.from({ length: Math.max(was.length, now.length) }, (_, place) =>
    members(was[place], now[place], `${path}[${start + place}]`)).flat();
}
