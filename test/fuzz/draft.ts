import type { Operation } from "./described.ts";
import type { Caller } from "./world.ts";

/** A request before it is sent, which can still be spoilt. */
export interface Draft {
  readonly operation: Operation;
  readonly caller: Caller;
  method: string;
  /** Parameters of the path, not escaped. */
  params: Record<string, string>;
  /** Names and values as they stand in the query, escaped. */
  query: [string, string][];
  headers: Record<string, string>;
  /** The value that `text`, the text of the body, is made of. */
  body?: unknown;
  text?: string;
  /** Why the answer must be a refusal; for `who asks` a 401. */
  refusal?: "who asks" | "media type" | "a name twice";
}

export interface FuzzRequest extends Draft {
  readonly url: string;
}

export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

/** An id of nothing. */
export const NOBODY = "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10";
