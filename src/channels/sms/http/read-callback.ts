import type { Receipt } from "../../../core/messages/outcome.ts";
import { OWN_DIGITS } from "../../../core/receipts/number-spellings.ts";
import { bareId } from "../../../core/receipts/provider-id.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { isUuid } from "../../../core/uuid.ts";
import type { CallbackReading, CallbackRequest } from "../../channel.ts";
import type { Told } from "../../without-echo.ts";
import type { OwnCodes } from "../dlt-scrub-codes.ts";
import { documentOf } from "./callback-document.ts";
import { providerError, scrubError, tidyText } from "./error-words.ts";
import type { CallbackDescription, ReceiptWord } from "./gateway.ts";
import { isInbound, toReceivedSms } from "./read-inbound.ts";
import { type Readable, readFirst, resolvePointer } from "./source.ts";
import { isAuthentic } from "./verify-callback.ts";

/** The most reports to read from one callback: more than fit into the 1 MiB that it may have, since a provider forgets what it was thanked for. */
const MAX_REPORTS = 100_000;

const MAX_ID = 255;
const MAX_NUMBER = 40;

export interface CallbackReader {
  readonly connector: Pick<Connector, "id" | "secrets">;
  readonly provider: string;
  readonly description: CallbackDescription;
  readonly dltCodes: OwnCodes;
  /** Whether callbacks name the message by our own id. */
  readonly hasOwnIds: boolean;
}

/** Reads what a callback says of messages, and what handsets wrote. Refuses it unless it proves that it is the provider's. */
export function readCallback(reader: CallbackReader, request: CallbackRequest): CallbackReading {
  const { description, connector } = reader;
  if (description.verify && !isAuthentic(description.verify, connector.secrets, request)) {
    return { kind: "refused", status: 401, reason: "the signature or password is missing or wrong" };
  }
  const document = documentOf(request, description.json_field);
  if (document === undefined) return { kind: "refused", status: 400, reason: "cannot be read" };
  const reports = reportsIn(document, description).map((report) => readableOf(report, request));
  const { inbound } = description;
  const fromHandsets = new Set(inbound ? reports.filter((report) => isInbound(inbound, report)) : []);
  const receipts = reports
    .filter((report) => !fromHandsets.has(report))
    .flatMap((report) => toReceipt(reader, { report, request }) ?? []);
  if (!inbound || fromHandsets.size === 0) {
    const isNameless = receipts.length === 0 && Object.keys(document).length > 0;
    return { kind: "receipts", receipts, ...(isNameless && { isNameless }), answer: answerOf(description) };
  }
  const origin = { connectorId: connector.id, receivedAt: request.receivedAt };
  return {
    kind: "receipts",
    receipts,
    inbound: [...fromHandsets].flatMap((report) => toReceivedSms(inbound, report, origin) ?? []),
    answer: answerOf(inbound.answer ? inbound : description),
  };
}

function readableOf(report: unknown, request: CallbackRequest): Readable {
  return {
    json: report,
    text: request.body,
    header: (name) => request.headers.get(name) ?? undefined,
  };
}

function answerOf({ answer }: Pick<CallbackDescription, "answer">) {
  const { status = 200, body = "ok", content_type: contentType = PLAIN } = answer ?? {};
  return { status, body, contentType };
}

const PLAIN = "text/plain; charset=utf-8";

function reportsIn(document: unknown, { reports }: CallbackDescription): readonly unknown[] {
  const found = reports === undefined ? [document] : resolvePointer(reports, document, MAX_REPORTS);
  return found.flatMap((one) => (Array.isArray(one) ? one : [one])).slice(0, MAX_REPORTS);
}

/** The receipt that a report makes; `undefined` if it names no message. */
function toReceipt(
  { connector, provider, description, dltCodes, hasOwnIds }: CallbackReader,
  { report: readable, request }: { report: Readable; request: CallbackRequest },
): Receipt | undefined {
  const id = bareId(readFirst(description.id, readable) ?? "");
  if (!id) return undefined;
  const isOwnId = hasOwnIds && isUuid(id);
  const to = (description.to ?? []).map((source) => readFirst(source, readable)).find(Boolean);
  const words = description.status.flatMap((source) => readFirst(source, readable) ?? []);
  const code = readFirst(description.error_code, readable);
  const told = toldOf(to);
  const verdict = judge(description, {
    words,
    code,
    to,
    provider,
    dltCodes,
    told,
    text: readFirst(description.error_text, readable),
  });
  const raw = [...words, ...(code === undefined ? [] : [`error ${code}`])].join(" ");
  return {
    connectorId: connector.id,
    providerMessageId: isOwnId ? id.toLowerCase() : id.slice(0, MAX_ID),
    ...(isOwnId && { isOwnId }),
    ...(to && { recipient: to.slice(0, MAX_NUMBER) }),
    ...verdict,
    receivedAt: request.receivedAt,
    ...(raw && { raw: tidyText(raw, told) }),
  };
}

/** What the provider was told of the message, as far as a report shows it. Fewer digits may be in a text by chance. */
function toldOf(to = ""): Told {
  const isNumber = to.length <= MAX_NUMBER && to.replace(/\D/g, "").length >= OWN_DIGITS;
  return { secrets: [], numbers: isNumber ? [to] : [] };
}

interface Report {
  readonly words: readonly string[];
  readonly code: string | undefined;
  readonly text: string | undefined;
  readonly to: string | undefined;
  readonly provider: string;
  readonly dltCodes: OwnCodes;
  readonly told: Told;
}

function judge(
  description: CallbackDescription,
  report: Report,
): Pick<Receipt, "error" | "isUnclear"> & { readonly status: ReceiptWord } {
  const status = statusOf(description, report);
  if (status === undefined) return { status: "sent", isUnclear: true };
  if (status === "sent" || status === "delivered") return { status };
  const isDlt = description.dlt_codes === true;
  const scrubbed = scrubError(report.code, { isDlt, own: report.dltCodes, to: report.to });
  if (scrubbed) return { status: "failed", error: scrubbed };
  const error = providerError({
    ...report,
    otherwise: {
      code: `receipt.${status}`,
      message: `${report.provider} reported ${tidyText(report.words[0] ?? status, report.told)}`,
    },
  });
  return { status, error };
}

/** `undefined` if no word is known. That proves neither success nor failure, and leaves the message `sent`. */
function statusOf(
  { statuses, error_statuses = {} }: CallbackDescription,
  { words, code }: Report,
): ReceiptWord | undefined {
  const status = words.map((word) => inAnyCase(statuses, word)).find((known) => known !== undefined);
  const isFailure = status !== undefined && status !== "sent" && status !== "delivered";
  return (isFailure && code !== undefined && inAnyCase(error_statuses, code)) || status;
}

function inAnyCase(table: Readonly<Record<string, ReceiptWord>>, word: string): ReceiptWord | undefined {
  const wanted = word.trim().toLowerCase();
  return Object.entries(table).find(([name]) => name.toLowerCase() === wanted)?.[1];
}
