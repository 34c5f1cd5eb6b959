import { foldId, namedByReceipts } from "../../core/receipts/provider-id.ts";
import type { NotedIds } from "./receipt-state.ts";

/**
 * The rows to store for the ids of one part: one for each key (folded id). Only the first says since when the receipt is
 * awaited. `providerId` is `null` if it equals the key.
 */
export function toIdRows(noted: NotedIds) {
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
