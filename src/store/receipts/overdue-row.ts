/**
 * The numbers by which overdue receipts of a part are stored. If two connectors have a copy of the part, each copy has a row,
 * and each connector is asked, since one of them may not know. The second row has a negative number; an older program, which
 * knows only one row for each part, deletes it when it is due.
 */
export function overdueRowsOf(part: number): readonly [first: number, second: number] {
  return [part, -1 - part];
}

/** The part that a row is about. */
export function partOfOverdue(row: number): number {
  return row < 0 ? -1 - row : row;
}

/** The row to use for the copy at this connector; `undefined` if that has one already, or if two other copies have. */
export function freeOverdueRow(
  part: number,
  connectorId: string,
  taken: readonly { readonly part: number; readonly connector_id: string }[],
): number | undefined {
  const ofPart = taken.filter((row) => partOfOverdue(row.part) === part);
  if (ofPart.some((row) => row.connector_id === connectorId)) return undefined;
  return overdueRowsOf(part).find((number) => !ofPart.some((row) => row.part === number));
}
