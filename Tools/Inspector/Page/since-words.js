// What "since when" found, as a sentence.

import { h } from "./dom.js";
import { count, day, minutes, reference, transactionLink, who } from "./values.js";

const amounts = {
  ">=": "at least", ">": "more than", "<": "fewer than", "<=": "at most", "==": "exactly", "!=": "other than",
};

/** Sentence for an answer; `object` is what is known of the object that was asked for. */
export function sinceWords(answer, question, object) {
  const holds = h("strong", {}, answer.holds ? "Yes" : "No");
  if (question.object && object && !object.exists && !answer.holds) return [holds, ": ", ...gone(question, object)];
  const what = question.object ? ofObject(answer, question) : [ofCount(answer, question)];
  if (!answer.became) return [holds, ": ", what, never(answer)];
  const transaction = [
    h("strong", { class: "nowrap" }, `transaction ${count(answer.became.number)}`),
    answer.became.timestamp ? `, ${minutes(answer.became.timestamp)}.` : ".",
  ];
  if (!answer.isExact) {
    return [holds, ": ", what, `. It became so in `, transaction, " Whether it stayed so was not looked at."];
  }
  return [holds, ": ", what, answer.holds ? ", since " : ", not since ", transaction];
}

function never({ holds, isExact }) {
  if (isExact) return holds ? ", and so it was all the time." : ", and never was.";
  return holds ? ", and so it was where the history begins. Whether it was so all the time was not looked at."
    : ", and neither was it so where the history begins. Whether it was between was not looked at.";
}

function ofObject({ holds }, question) {
  const verb = question.where ? (holds ? "meets the condition" : "does not meet the condition")
    : holds ? "exists" : "does not exist";
  return [reference({ id: question.object, name: question.object }), ` ${verb}`];
}

/** An object that is not there meets nothing; it is told where it went. */
function gone(question, { deleted }) {
  const name = reference({ id: question.object, name: question.object });
  if (!deleted) return [name, " is not there at this moment, so that it meets no condition."];
  return [name, " is gone: deleted in transaction ", transactionLink(deleted.number),
    deleted.timestamp ? `, ${day(deleted.timestamp)}, by ` : " by ", who(deleted.author), ". What is gone meets no condition."];
}

/** "there are at least 50 of Entry that meet the condition" */
function ofCount({ holds }, question) {
  const [, sign, least] = /^([<>=!]=?)\s*(\d+)$/.exec(question.count ?? ">0") ?? [null, "", question.count];
  const those = `of ${question.entity}${question.where ? " that meet the condition" : ""}`;
  if (least === "0" && sign === ">") return holds ? `there are some ${those}` : `there are none ${those}`;
  return `there are ${holds ? "" : "not "}${amounts[sign] ?? sign} ${least} ${those}`;
}
