// The bytes of the file: all of it to scale, its frames, and one of them explained byte by byte.

import { current, format, go } from "./address.js";
import { h, observeSize, replace } from "./dom.js";
import { createFindings } from "./findings.js";
import { createFrameList, numbersOf } from "./frame-list.js";
import { setCommand } from "./frame.js";
import { createHex } from "./hex.js";
import { ask, askUntilWhole, failure, Loader } from "./server.js";
import { session } from "./session.js";
import { drawStrip, kindHue } from "./strip.js";
import { bytes, count, transactionLink } from "./values.js";

const windowLength = 4096;

export function create(element) {
  const strip = h("section", { class: "strip", "aria-label": "The file to scale" });
  const findings = h("section", { class: "findings", "aria-label": "Findings" });
  const list = h("section", { class: "column frame-list", "aria-label": "Frames" });
  const region = h("section", { class: "column region", "aria-label": "One frame", tabindex: "-1" });
  element.append(h("div", { class: "bytes-top" }, strip, findings), list, region);
  const stripLoader = new Loader(strip);
  const regionLoader = new Loader(region);
  const frames = createFrameList(list, { choose: (offset) => go(addressOf(offset)) });
  const findingList = createFindings(findings, { addressOf });
  let stripWidth = 0;
  let shownRegion = null;
  const stop = observeSize(strip, (width) => {
    if (Math.abs(width - stripWidth) < 4) return;
    stripWidth = width;
    loadStrip();
  });

  function addressOf(offset, query = {}) {
    const { store, at } = current().query;
    return format({ view: "bytes", parts: [String(offset)], query: { store, at, ...query } });
  }

  function offsetOfAddress() {
    const { parts } = current();
    return /^\d+$/.test(parts[0] ?? "") ? Number(parts[0]) : 0;
  }

  function show() {
    const offset = offsetOfAddress();
    loadStrip();
    findingList.show();
    frames.show(offset);
    const skip = Number(current().query.skip ?? 0);
    regionLoader.load(`${offset} ${skip} ${session.size}`, async (signal) => {
      const answer = await ask("bytes", { offset, skip, length: windowLength }, signal);
      setCommand(answer.command);
      shownRegion = answer;
      draw(answer);
    }, { quietly: true, failed: (error) => replace(region, failure(error)) });
  }

  function loadStrip() {
    if (stripWidth === 0) return;
    const pieces = Math.max(60, Math.min(2000, Math.floor(stripWidth / 3)));
    stripLoader.load(`${pieces} ${session.size}`, (signal) => askUntilWhole("strip", { pieces }, signal, (answer) => {
      drawStrip(strip, answer, stripWidth, { choose: (offset) => go(addressOf(offset)), marked: markedRange });
    }), { quietly: strip.children.length > 0 });
  }

  function markedRange() {
    return shownRegion ? [shownRegion.offset, shownRegion.length] : [offsetOfAddress(), 0];
  }

  function draw(answer) {
    strip.mark?.(answer.offset, answer.length);
    frames.mark(answer.offset);
    const end = answer.skip + windowSize(answer);
    const { first, last } = numbersOf(answer);
    replace(region,
      h("div", { class: "region-head" },
        h("h2", {}, h("span", { class: `swatch hue-${kindHue(answer.kind)}`, "aria-hidden": "true" }), ` ${answer.kind}`),
        h("span", { class: "nowrap" }, `${count(answer.offset)} – ${count(answer.offset + answer.length)}`),
        h("span", { class: "soft nowrap" }, bytes(answer.length)),
        checks(answer),
        first !== undefined && session.overview && h("span", {}, "transaction ", transactionLink(first),
          last !== first && [" to ", transactionLink(last)]),
        h("span", { class: "region-steps" },
          answer.previous !== undefined && h("a", { href: addressOf(answer.previous) }, "‹ before"), " ",
          answer.next !== undefined && h("a", { href: addressOf(answer.next) }, "next ›"))),
      answer.message && h("p", { class: "bad" }, answer.message),
      answer.details?.length > 0 && h("dl", { class: "details" }, answer.details.map((each) =>
        h("div", {}, h("dt", {}, each.name), h("dd", { class: "cut", title: each.value }, each.value)))),
      createHex(answer),
      answer.length > windowLength && h("p", { class: "window-steps" },
        answer.skip > 0 && h("a", {
          href: addressOf(answer.offset, { skip: Math.max(0, answer.skip - windowLength) || null }),
        }, "‹ bytes before"), " ",
        h("span", { class: "soft" }, `${count(answer.skip)} – ${count(end)} of ${count(answer.length)}`), " ",
        end < answer.length && h("a", { href: addressOf(answer.offset, { skip: end }) }, "next bytes ›")));
  }

  function step(name) {
    if (shownRegion?.[name] !== undefined) go(addressOf(shownRegion[name]), { replacing: true });
  }

  return {
    show,
    keys: {
      "j": ["Next frame", () => step("next")],
      "k": ["Frame before", () => step("previous")],
      "o": ["To the fields", () => region.querySelector(".field-row")?.focus()],
    },
    close() {
      stop();
      stripLoader.stop();
      regionLoader.stop();
      frames.close();
      findingList.close();
    },
  };
}

function windowSize(answer) {
  return Math.floor((answer.bytes.length * 3) / 4) - (answer.bytes.match(/=+$/)?.[0].length ?? 0);
}

/** Whether checksum and chain hold, in words and colour. */
function checks(answer) {
  const one = (name, state) => {
    if (!state || state === "unknown") return null;
    const isGood = state === "ok" || state === "holds";
    return h("span", { class: `check nowrap ${isGood ? "good" : "bad"}` }, isGood ? `${name} holds` : state.includes(" ") ? state : `${name} ${state}`);
  };
  return [one("checksum", answer.checksum), one("chain", answer.chain), answer.isOk === false && !answer.checksum
    && h("span", { class: "check bad" }, "not in order")];
}

