import type { PartRef } from "../../core/messages/outcome.ts";
import { foldId, namedByReceipts } from "../../core/receipts/provider-id.ts";
import type { NotedIds } from "./receipt-state.ts";

/** A row to be stored for one id of one part. */
export interface NewIdRow extends PartRef {
  readonly connectorId: string;
  /** The folded id. */
  readonly key: string;
  /** As receipts are expected to spell it; `null` if that is the key. */
  readonly providerId: string | null;
  /** Since when a receipt is awaited, Unix milliseconds; `null` if none is, or once it has come. */
  awaitedSince: number | null;
}

/** The rows to store for the ids of one part: one for each key, of which only the first awaits the receipt. */
export function toIdRows(noted: NotedIds): readonly NewIdRow[] {
  const { connectorId, messageId, part, providerMessageIds: ids, awaitedSince = null } = noted;
  // If two spellings have one key, the last one counts: it is the one that receipts use.
  const byKey = [...new Map(ids.map((id) => [foldId(id), id]))];
  // A receipt may be awaited even if the provider gave no id.
  if (ids.length === 0 && awaitedSince !== null) byKey.push(["", ""]);
  const named = namedByReceipts(ids);
  return byKey.map(([key, id], index) => {
    const name = named.includes(id) ? id : (named.at(-1) ?? id);
    const providerId = name === key ? null : name;
    return { connectorId, key, messageId, part, providerId, awaitedSince: index === 0 ? awaitedSince : null };
  });
}
