/** Cuts texts to length, and remembers which fields it cut. */
export interface Truncation {
  truncate(field: string, text: string, limit: number): string;
  /** For example `{ truncated: ["source"] }`; `{}` if nothing was cut. */
  note(): { readonly truncated?: readonly string[] };
}

/** Texts are cut because the ledger is for people to look at, and a hostile request must not fill the disk through it. */
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
