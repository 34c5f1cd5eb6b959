/** What happened to a message, in words. Pure. */
import type { Message } from "./message.ts";

export interface Timeline {
  readonly created_at?: string;
  readonly data: readonly Entry[];
}

export interface Entry {
  readonly at: string;
  readonly kind: string;
  readonly status?: string;
  readonly recipient?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly detail?: Readonly<Record<string, unknown>>;
}

const SAYINGS: Readonly<Record<string, string>> = {
  accepted: "Accepted",
  attempt: "Attempt",
  status: "New status",
  receipt: "Receipt",
  late_receipt: "Late receipt, which changes nothing",
  late_answer: "Late word of an attempt",
  lost_settle: "Result of an attempt that had lost its turn: only what it has sent counts",
  interrupted: "The attempt ended without an answer: the message may have been sent",
  receipt_overdue: "No receipt has come in the expected time",
};

/** One sentence: what happened, and where. `nameOf`: the name of a connector. */
export function entryText(entry: Entry, nameOf: (connectorId: string) => string): string {
  const saying = SAYINGS[entry.kind] ?? entry.kind.replaceAll("_", " ");
  const { connector, receipt_status: said } = entry.detail ?? {};
  const over = entry.kind === "attempt" ? "over" : "from";
  return [
    saying,
    said !== undefined && `“${said}”`,
    connector !== undefined && `${over} ${nameOf(String(connector))}`,
    entry.recipient !== undefined && `for ${entry.recipient}`,
    entry.kind === "attempt" && entry.status === "queued" && entry.error && againText(entry),
  ]
    .filter(Boolean)
    .join(" ");
}

/** An attempt at an email is for several recipients at once. */
function againText({ detail = {} }: Entry): string {
  return `did not succeed${detail.sent === undefined ? "" : " for all"}: to be tried again`;
}

export interface Line {
  readonly entry: Entry;
  /** Where it is new: of the recipient if the entry names one, else of the message. */
  readonly status?: string;
  readonly error?: Entry["error"];
}

/**
 * The entries without what they only repeat: the event of a recipient follows the receipt that brings it. Older entries of
 * emails have the status and the error of the whole message: at a receipt that says `delivered`, those may be of another
 * recipient that has bounced before.
 */
export function toLines(entries: readonly Entry[]): readonly Line[] {
  const statuses = new Map<string, string | undefined>();
  const told = new Set<string>();
  const lines = entries.map((entry): Line => {
    const { recipient = "", status, error } = entry;
    const isNew = statuses.get(recipient) !== status;
    statuses.set(recipient, status);
    const mayRepeat = recipient === "" ? entry.kind !== "attempt" : entry.kind === "status" && !isNew;
    const isRepeated = error !== undefined && mayRepeat && told.has(`${recipient} ${textOf(error)}`);
    if (recipient !== "" && error) for (const whose of ["", recipient]) told.add(`${whose} ${textOf(error)}`);
    return {
      entry,
      ...(isNew && status !== undefined && { status }),
      ...(error && !isRepeated && { error }),
    };
  });
  return lines.filter(saysSomething);
}

function saysSomething({ entry, status, error }: Line): boolean {
  return entry.kind !== "status" || status !== undefined || error !== undefined;
}

function textOf({ code, message }: NonNullable<Entry["error"]>): string {
  return `${code} ${message}`;
}

/** What else is known of an entry, for those who look closely. */
export function entryDetails({ detail = {} }: Entry): readonly (readonly [name: string, value: string])[] {
  return Object.entries(detail)
    .filter(([name]) => name !== "connector" && name !== "receipt_status")
    .map(([name, value]) => [
      name.replaceAll("_", " "),
      Array.isArray(value) ? value.join(", ") : String(value),
    ]);
}

/** The entries with the acceptance as the first: from there to the next the message waited. */
export function withAcceptance({ created_at: at, data }: Timeline): readonly Entry[] {
  return at === undefined ? data : [{ at, kind: "accepted" }, ...data];
}

export interface RecipientState {
  readonly address: string;
  readonly role: "to" | "cc" | "bcc";
  readonly status?: string;
  readonly error?: Entry["error"];
}

/** How far each recipient of an email has come: what the timeline says of them last. A late receipt changes nothing. */
export function recipientStates(message: Message, entries: readonly Entry[]): readonly RecipientState[] {
  return (["to", "cc", "bcc"] as const).flatMap((role) => {
    const addresses = message[role] ?? [];
    if (typeof addresses === "string") return [];
    return addresses.map(({ email }) => {
      const last = entries.findLast(
        ({ kind, recipient }) => kind !== "late_receipt" && recipient?.toLowerCase() === email.toLowerCase(),
      );
      return {
        address: email,
        role,
        ...(last?.status !== undefined && { status: last.status }),
        ...(last?.error && { error: last.error }),
      };
    });
  });
}
