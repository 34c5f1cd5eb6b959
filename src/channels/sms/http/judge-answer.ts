import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import { bareId } from "../../../core/receipts/provider-id.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { parseRetryAfter } from "../../../core/time/retry-after.ts";
import type { Told } from "../../without-echo.ts";
import type { OwnCodes } from "../dlt-scrub-codes.ts";
import { providerError, scrubError } from "./error-words.ts";
import { parseExactJson } from "./exact-json.ts";
import type { AnswerDescription, AnswerRow, AnswerWord } from "./gateway.ts";
import type { Answer, Exchange } from "./http-client.ts";
import { type Readable, readAll, readFirst } from "./source.ts";

/** What came of one request: for the message, and for the connector. */
export interface Judgement {
  readonly outcome: PartOutcome;
  /** Whether it counts as an attempt, and so uses up the retry budget. */
  readonly counts: boolean;
  /** What it says about the provider: it works, it needs a rest, or it is down. Absent if it says nothing. */
  readonly reaction?:
    | { readonly kind: "up" }
    | { readonly kind: "rest"; readonly ms: number }
    /** `isRefused`: the provider was reached, and refuses to serve us. */
    | { readonly kind: "down"; readonly reason: string; readonly isRefused?: true };
}

export interface Judging {
  readonly description: AnswerDescription;
  /** The provider's name, for error codes. */
  readonly provider: string;
  readonly dltCodes: OwnCodes;
  readonly messageId: string;
  /** The recipient's number. */
  readonly to: string;
  /** What the request has told the provider. */
  readonly told: Told;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The shortest rest of a provider that throttles. */
const THROTTLE_REST_MS = 1_000;

/** How long a message waits that is not at fault. */
const SOON_MS = 1_000;

const MAX_RETRY_AFTER_MS = HOUR_MS;

export function judgeExchange(exchange: Exchange, judging: Judging): Judgement {
  if (exchange.kind === "answered") {
    return withOwnId({ reaction: { kind: "up" }, ...judgeAnswer(exchange.answer, judging) }, judging);
  }
  const { kind, reason } = exchange;
  return kind === "lost" ? withOwnId(unconfirmed("http.no_answer", reason), judging) : notConnected(reason);
}

/** Gives the outcome our id, if callbacks name messages by it: they prove that the message was taken although the answer was lost. */
function withOwnId(judgement: Judgement, { description, messageId }: Judging): Judgement {
  const { outcome } = judgement;
  return outcome.kind === "unconfirmed" && description.own_id
    ? { ...judgement, outcome: { ...outcome, providerMessageIds: [messageId] } }
    : judgement;
}

/** The provider was not asked. */
export function notTried(code: string, message: string, retryAfterMs = SOON_MS): Judgement {
  const outcome: PartOutcome = { kind: "deferred", error: { code, message }, retryAfterMs, isAnswer: false };
  return { outcome, counts: false };
}

/** Another process has to send it. `isOwnPace`: the provider has not deferred it, so no other connector gets it because of this. */
export const TAKEN_OVER: Judgement = {
  outcome: {
    kind: "deferred",
    error: { code: "http.taken_over", message: "another process may have taken the message over" },
    retryAfterMs: 1,
    isOwnPace: true,
  },
  counts: false,
};

export function refused(error: MessageError): Judgement {
  return { outcome: { kind: "rejected", error }, counts: true };
}

function notConnected(reason: string): Judgement {
  const error = { code: "http.not_connected", message: reason };
  const outcome: PartOutcome = { kind: "deferred", error, retryAfterMs: SOON_MS };
  return { outcome, counts: false, reaction: { kind: "down", reason } };
}

function unconfirmed(code: string, message: string): Judgement {
  return { outcome: { kind: "unconfirmed", error: { code, message } }, counts: true };
}

function judgeAnswer(answer: Answer, judging: Judging): Judgement {
  const readable = toReadable(answer);
  const row = rowFor(answer, judging.description, readable);
  if (isUndecided(answer, row)) return unconfirmed("http.unreadable_answer", "the answer was cut off");
  const word = row?.outcome ?? byStatus(answer.status);
  if (word === "sent") return judgeSent(judging, readable);
  const retryAfterMs = retryAfter(answer.header("retry-after"), judging.now);
  const scrubbed = word === "rejected" || word === "deferred" ? scrubErrorOf(judging, readable) : undefined;
  if (scrubbed) return judgeRefusal(wordForScrub(scrubbed), scrubbed, retryAfterMs);
  return judgeRefusal(word, errorOf(answer, judging, readable), retryAfterMs);
}

function scrubErrorOf({ description, dltCodes, to }: Judging, readable: Readable): MessageError | undefined {
  const code = readFirst(description.error_code, readable);
  return scrubError(code, { isDlt: description.dlt_codes === true, own: dltCodes, to });
}

/** Scrubbing rejects a message for good, except with code 670: the scrubbing platform had no answer. */
function wordForScrub({ code }: MessageError): "rejected" | "deferred" {
  return code === "dlt.670" ? "deferred" : "rejected";
}

function judgeRefusal(
  word: Exclude<AnswerWord, "sent">,
  error: MessageError,
  retryAfterMs: number | undefined,
): Judgement {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  switch (word) {
    case "rejected":
      return refused(error);
    case "unconfirmed":
      return { outcome: { kind: "unconfirmed", error }, counts: true };
    case "deferred":
      return { outcome: { kind: "deferred", error, ...wait }, counts: true };
    case "throttled": {
      const ms = Math.max(retryAfterMs ?? 0, THROTTLE_REST_MS);
      return {
        outcome: { kind: "deferred", error, retryAfterMs: ms },
        counts: false,
        reaction: { kind: "rest", ms },
      };
    }
    case "barred": {
      const outcome: PartOutcome = { kind: "deferred", error, retryAfterMs: retryAfterMs ?? SOON_MS };
      return { outcome, counts: false, reaction: { kind: "down", reason: error.message, isRefused: true } };
    }
  }
}

/** If the answer should name the message and does not, nothing proves that the message was taken. */
function judgeSent({ description, messageId }: Judging, readable: Readable): Judgement {
  const found = description.id ? readAll(description.id, readable).map(bareId).filter(Boolean) : [];
  const ids = description.own_id ? [messageId, ...found] : found;
  if (description.id && ids.length === 0) {
    return unconfirmed("http.unreadable_answer", "the answer names no message id");
  }
  return { outcome: { kind: "sent", providerMessageIds: ids.map((id) => id.slice(0, 255)) }, counts: true };
}

function toReadable({ body, header }: Answer): Readable {
  return { json: parseExactJson(body), text: body, header };
}

function rowFor(
  { status }: Answer,
  { rows = [] }: AnswerDescription,
  readable: Readable,
): AnswerRow | undefined {
  return rows.find(
    ({ http, and = {}, ...first }) =>
      (http === undefined || fits(status, http)) && holds(first, readable) && holds(and, readable),
  );
}

/** Whether only that its words did not come speaks against a message that may have been taken, as after an empty 200 of Kannel's. */
function isUndecided({ status, isCutOff }: Answer, row: AnswerRow | undefined): boolean {
  if (!isCutOff || !fits(status, "2xx") || !row || row.outcome === "sent") return false;
  return !row.from && !row.and?.from;
}

function holds({ from, is }: Pick<AnswerRow, "from" | "is">, readable: Readable): boolean {
  if (!from) return true;
  const values = readAll(from, readable);
  return is ? values.some((value) => is.includes(value)) : values.length > 0;
}

function fits(status: number, pattern: string): boolean {
  return pattern.endsWith("xx")
    ? Math.floor(status / 100) === Number(pattern[0])
    : status === Number(pattern);
}

/**
 * Used if no row of the description fits. After a 502 or 504 the server behind the gateway may have sent the message. Cloudflare
 * answers 520 if that server gave an answer that it does not understand, and 524 if none came in time.
 */
const BY_STATUS: Readonly<Record<number, AnswerWord>> = {
  401: "barred",
  402: "barred",
  403: "barred",
  404: "barred",
  405: "barred",
  407: "barred",
  408: "deferred",
  425: "deferred",
  429: "throttled",
  502: "unconfirmed",
  504: "unconfirmed",
  520: "unconfirmed",
  524: "unconfirmed",
};

/** By the first digit. Redirects are not followed: they mean that the connector's URL is wrong. */
const BY_CLASS: Readonly<Record<number, AnswerWord>> = {
  2: "sent",
  3: "barred",
  4: "rejected",
  5: "deferred",
};

function byStatus(status: number): AnswerWord {
  return BY_STATUS[status] ?? BY_CLASS[Math.floor(status / 100)] ?? "unconfirmed";
}

function errorOf(answer: Answer, { description, provider, told }: Judging, readable: Readable): MessageError {
  const { status } = answer;
  return providerError({
    provider,
    code: readFirst(description.error_code, readable),
    text: redirectOf(answer) ?? readFirst(description.error_text, readable),
    otherwise: { code: `http.${status}`, message: `HTTP ${status}` },
    told,
  });
}

/** Where a redirect leads shows what is wrong with the connector's URL: `http` for `https`, a slash too few. Without the query. */
export function redirectOf({ status, header }: Answer): string | undefined {
  const [place] = status >= 300 && status < 400 ? (header("location") ?? "").split(/[?#]/, 1) : [];
  return place ? `HTTP ${status}, redirected to ${place}` : undefined;
}

/** The wait that a provider asks for, at most an hour: a message must not miss its window because of a mistaken date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  const ms = value === undefined ? undefined : parseRetryAfter(value, now);
  return ms === undefined ? undefined : Math.min(ms, MAX_RETRY_AFTER_MS);
}
