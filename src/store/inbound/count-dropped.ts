import type { DroppedInbound } from "./inbound.ts";

/** Counts deleted messages by connector, as `InboundStore.dropUnassigned` returns them. */
export function countDropped(rows: readonly { readonly connector_id: string }[]): readonly DroppedInbound[] {
  const counts = new Map<string, number>();
  for (const { connector_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return Array.from(counts, ([connectorId, messages]) => ({ connectorId, messages }));
}
