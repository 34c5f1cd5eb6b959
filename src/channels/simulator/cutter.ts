/** Collects which fields were too long to keep whole. */
export interface Cutter {
  cut(field: string, text: string, limit: number): string;
  /** `{ truncated: ["source"] }`, or nothing where all was kept. */
  note(): { readonly truncated?: readonly string[] };
}

/** The ledger keeps what people look at, and a hostile request must not fill a disk through it. */
export function createCutter(): Cutter {
  const truncated = new Set<string>();
  return {
    cut(field, text, limit) {
      if (text.length <= limit) return text;
      truncated.add(field);
      return text.slice(0, limit).toWellFormed();
    },
    note: () => (truncated.size > 0 ? { truncated: [...truncated] } : {}),
  };
}
