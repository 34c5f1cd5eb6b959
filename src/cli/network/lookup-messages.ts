/** Messages to and from the thread that looks names up. */
import type { Dns } from "../../core/domains/dns.ts";

export interface LookupTask {
  /** Addresses separated by commas; absent: the machine's own. */
  readonly servers: string | undefined;
  readonly question: keyof Dns;
  readonly name: string;
}

export interface ToLookupThread {
  readonly id: number;
  readonly task: LookupTask;
}

export type FromLookupThread =
  | { readonly id: number; readonly kind: "found"; readonly records: Found }
  | { readonly id: number; readonly kind: "failed"; readonly message: string; readonly code: string };

/** The answer to one of the questions. */
export type Found = Awaited<ReturnType<Dns[keyof Dns]>>;
