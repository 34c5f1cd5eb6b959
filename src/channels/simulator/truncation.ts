/** Cuts texts to length, and remembers which fields it cut. */
export interface Truncation {
  truncate(field: string, text: string, limit: number): string;
  /** `{ truncated: ["source"] }`, or nothing where all was kept. */
  note(): { readonly truncated?: readonly string[] };
}

/** The ledger is for people to look at: a hostile request must not fill the disk through it. */
export function createTruncation(): Truncation {
  const truncated = new Set<string>();
  return {
    truncate(field, text, limit) {
      if (text.length <= limit) return text;
      truncated.add(field);
      return text.slice(0, limit).toWellFormed();
    },
    note: () => (truncated.size > 0 ? { truncated: [...truncated] } : {}),
  };
}
