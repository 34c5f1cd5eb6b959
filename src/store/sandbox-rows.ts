/** The rows of the sandbox ledger, and how they are converted from and to the type of `core`. */
import { lowerAscii } from "../core/messages/erasure.ts";
import type { ChannelName } from "../core/messages/message.ts";
import type { SandboxEntry, SandboxQuery } from "../core/messages/sandbox-entry.ts";
import { writingsOf } from "./address-spellings.ts";

/** In the order of `toSandboxRow`. */
export const SANDBOX_COLUMNS =
  "id, account_id, message_id, channel, recipient, received_at, rendered, receipt, receipt_at";

export interface SandboxRow {
  readonly id: string;
  readonly account_id: string;
  readonly message_id: string;
  readonly channel: ChannelName;
  readonly recipient: string;
  readonly received_at: number;
  readonly rendered: string;
  readonly receipt: string | null;
}

const TESTS = [
  ["accountId", "account_id ="],
  ["messageId", "message_id ="],
  ["channel", "channel ="],
  ["to", "lower(recipient) IN"],
] as const satisfies readonly (readonly [keyof SandboxQuery, string])[];

/** The tests of a query, in SQL: each has to be followed by its values, in brackets. */
export function sandboxTests(
  query: Omit<SandboxQuery, "order" | "after" | "limit">,
): readonly { readonly test: string; readonly values: readonly string[] }[] {
  return TESTS.flatMap(([field, test]) => {
    const value = query[field];
    return value === undefined ? [] : [{ test, values: field === "to" ? loweredForms(value) : [value] }];
  });
}

/** The recipient's forms, with only ASCII and with all letters in lower case: the databases do not agree on what `lower` does. */
function loweredForms(recipient: string): readonly string[] {
  const forms = writingsOf(recipient).flatMap((form) => [lowerAscii(form), form.toLowerCase()]);
  return [...new Set(forms)];
}

export function toSandboxRow(entry: SandboxEntry): (string | number | null)[] {
  return [
    entry.id,
    entry.accountId,
    entry.messageId,
    entry.channel,
    entry.to,
    entry.receivedAt,
    JSON.stringify(entry.rendered),
    entry.receipt ? JSON.stringify(entry.receipt) : null,
    entry.receipt?.at ?? null,
  ];
}

export function toSandboxEntry(row: SandboxRow): SandboxEntry {
  return {
    id: row.id,
    accountId: row.account_id,
    messageId: row.message_id,
    channel: row.channel,
    to: row.recipient,
    receivedAt: row.received_at,
    rendered: JSON.parse(row.rendered) as SandboxEntry["rendered"],
    ...(row.receipt !== null && { receipt: JSON.parse(row.receipt) as NonNullable<SandboxEntry["receipt"]> }),
  };
}
