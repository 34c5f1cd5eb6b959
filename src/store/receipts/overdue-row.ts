/**
 * Of a part that two connectors have taken, each copy has a row among the overdue receipts, and is asked about where it is: one of
 * them may not be able to tell. The second row has a number below 0 for its part. An older program, which knows one row for a
 * part, deletes that when it is to ask about it.
 */
export function overdueRowsOf(part: number): readonly [first: number, second: number] {
  return [part, -1 - part];
}

/** The part of a row. */
export function partOfOverdue(row: number): number {
  return row < 0 ? -1 - row : row;
}

/** The row for a copy at this connector: `undefined` if it has one, or if two others have. */
export function freeOverdueRow(
  part: number,
  connectorId: string,
  taken: readonly { readonly part: number; readonly connector_id: string }[],
): number | undefined {
  const ofPart = taken.filter((row) => partOfOverdue(row.part) === part);
  if (ofPart.some((row) => row.connector_id === connectorId)) return undefined;
  return overdueRowsOf(part).find((number) => !ofPart.some((row) => row.part === number));
}
