/**
 * Why an Indian operator's DLT scrubbing refused a message, by the code it puts into a receipt. Operators
 * disagree on 611 to 616 and above 666, so the words are a hint and the code is what counts.
 */
const WORDS: Readonly<Record<number, string>> = {
  195: "DLT parameters are missing",
  600: "entity not found",
  601: "entity not registered",
  602: "entity inactive",
  603: "entity blacklisted",
  604: "entity id invalid",
  605: "entity not allowed for this telemarketer",
  610: "telemarketer not registered",
  611: "telemarketer inactive",
  612: "telemarketer blacklisted",
  613: "telemarketer not allowed for this entity",
  614: "chain hash not received",
  615: "chain hash not registered",
  616: "chain hash inactive",
  617: "chain hash blacklisted",
  618: "chain hash suspended",
  620: "header not found",
  621: "header inactive",
  622: "header blacklisted",
  623: "header belongs to another entity",
  624: "header suspended (validity)",
  625: "header suspended (usage)",
  630: "template not found",
  631: "template inactive",
  632: "template blacklisted",
  633: "text does not match the template",
  634: "header is not linked to the template",
  635: "a variable is too long",
  636: "template cannot be identified",
  637: "template id invalid",
  650: "blocked by the recipient's preference (DND)",
  651: "outside the hours for promotional messages",
  660: "consent failed",
  670: "scrubbing failed",
};

/** The reason behind a scrub code, or `undefined` for any other code. */
export function dltScrubReason(code: number): string | undefined {
  return WORDS[code];
}
