/** Records by their names. Pure. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** The name of one of the records; of one that is no longer there, its id. */
export function nameIn(records: readonly Named[], id: string): string {
  return records.find((record) => record.id === id)?.name ?? id;
}
