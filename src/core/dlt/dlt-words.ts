/**
 * Reads the words that the operators' DLT portals use. Portals differ and change, so case, blanks and punctuation do not matter,
 * and a status or a header type is known by its beginning (`Pending for approval`).
 */
import type { SmsCategory } from "../sms/sms-category.ts";
import { PLACEHOLDER_KINDS, type PlaceholderKind } from "../sms/template.ts";
import type { DltStatus, HeaderType } from "./dlt-registry.ts";

export function readDltStatus(text: string): DltStatus | undefined {
  return byBeginning(text, STATUSES);
}

/** Reads a cell below the head `Blacklist Status`, where `No` is good news. In a column for activity it would be bad news. */
export function readBlacklistStatus(text: string): DltStatus | undefined {
  return byWord(text, BLACKLIST_ANSWERS) ?? readDltStatus(text);
}

export function readCategory(text: string): SmsCategory | undefined {
  return byWord(text, CATEGORIES);
}

export function readHeaderType(text: string): HeaderType | undefined {
  return byWord(text, HEADER_TYPES) ?? byBeginning(text, HEADER_TYPE_BEGINNINGS);
}

/** `Numeric, URL` and `{#numeric#}|{#url#}` alike, in order; `undefined` if one of them is unknown. */
export function readVariableTags(text: string): readonly PlaceholderKind[] | undefined {
  const tags = listed(text).map((tag) => {
    const word = plain(tag);
    return word === "number" ? "numeric" : PLACEHOLDER_KINDS.find((kind) => kind === word);
  });
  return tags.some((tag) => tag === undefined) ? undefined : (tags as readonly PlaceholderKind[]);
}

/** The sender ids in a list, without what operators put around them: `VM-ACMECO-S` is ACMECO. */
export function readHeaders(text: string): readonly string[] {
  return [...new Set(listed(text).map(bareHeader))];
}

export function bareHeader(text: string): string {
  return /^[A-Z]{2}-([A-Za-z0-9]{3,11})(?:-[PSTG])?$/.exec(text.trim())?.[1] ?? text.trim();
}

/** Whether a cell is empty, or as good as empty: `-`, `NA`, `N/A`. */
export function saysNothing(text: string): boolean {
  return /^[-–—]*$/.test(text) || plain(text) === "na";
}

/** The letters and digits of a text, in lower case: the form in which columns and words are compared. */
export function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "");
}

function listed(text: string): readonly string[] {
  return text.split(/[\s,;|/]+/).filter(Boolean);
}

type Words<Word> = Readonly<Record<string, Word>>;

const STATUSES: Words<DltStatus> = {
  approved: "approved",
  active: "approved",
  registered: "approved",
  live: "approved",
  accepted: "approved",
  pending: "pending",
  inprogress: "pending",
  inreview: "pending",
  under: "pending",
  submitted: "pending",
  waiting: "pending",
  processing: "pending",
  rejected: "rejected",
  declined: "rejected",
  disapproved: "rejected",
  notapproved: "rejected",
  inactive: "inactive",
  deactivated: "inactive",
  suspended: "inactive",
  expired: "inactive",
  disabled: "inactive",
  deleted: "inactive",
  surrendered: "inactive",
  stale: "inactive",
  blacklisted: "blacklisted",
  blocked: "blacklisted",
};

const BLACKLIST_ANSWERS: Words<DltStatus> = {
  n: "approved",
  no: "approved",
  notblacklisted: "approved",
  nonblacklisted: "approved",
  y: "blacklisted",
  yes: "blacklisted",
};

const CATEGORIES: Words<SmsCategory> = {
  t: "transactional",
  trans: "transactional",
  transaction: "transactional",
  transactional: "transactional",
  si: "service_implicit",
  implicit: "service_implicit",
  service: "service_implicit",
  serviceimplicit: "service_implicit",
  serviceinferred: "service_implicit",
  se: "service_explicit",
  explicit: "service_explicit",
  serviceexplicit: "service_explicit",
  p: "promotional",
  promo: "promotional",
  promotion: "promotional",
  promotional: "promotional",
};

const HEADER_TYPES: Words<HeaderType> = {
  t: "transactional",
  s: "service",
  p: "promotional",
  g: "government",
  si: "service",
  se: "service",
};

/** `Other` is everything that is not promotional, on portals that make no finer distinction. */
const HEADER_TYPE_BEGINNINGS: Words<HeaderType> = {
  trans: "transactional",
  service: "service",
  other: "service",
  promo: "promotional",
  gov: "government",
};

function byWord<Word>(text: string, words: Words<Word>): Word | undefined {
  const word = plain(text);
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

function byBeginning<Word>(text: string, words: Words<Word>): Word | undefined {
  const word = plain(text);
  return Object.entries(words).find(([beginning]) => word.startsWith(beginning))?.[1];
}
