/** Single facts about the database as a whole: the rows of `meta`. */
import type { Vault } from "./vault.ts";

/** While PostgreSQL is being filled: the database, or the backup, that it becomes a copy of. */
export const MOVING = "moving_from";

/** Once everything has moved from SQLite to PostgreSQL: when that was. */
export const MOVED = "moved_away_at";

/** SQLite: how often a service opened the database, or gave it another key: whether one has written to it since. */
export const OPENINGS = "openings";

/** SQLite: up to which number the names of idempotency keys are in the index. */
export const NAMES_TO = "key_names_to";

/** Begins the name of how many times an erasure has passed over something; its id follows. */
export const PASSED_OVER_OF = "passed_over ";

export type MetaName =
  | SealedName
  /** See `AccessStore`. */
  | "admin_token_digest"
  | "console_password_digest"
  | "console_round"
  /** See `Records.version`. */
  | "records_version"
  /** See `EventFeed.cursorKey`; in hex. */
  | "event_cursor_key"
  /** `Vault.checkValue` of the master key that secrets are sealed under. */
  | "master_key_check"
  | typeof MOVING
  /** How far this walk of the move has come. */
  | `${typeof MOVING}.${number}`
  | `${typeof PASSED_OVER_OF}${string}`
  | typeof MOVED
  | typeof OPENINGS
  | typeof NAMES_TO;

/** Facts that are secrets. `erasure_pepper`: see `ErasedForm`. */
export const SEALED_NAMES = ["erasure_pepper", "earlier_keys"] as const;

export type SealedName = (typeof SEALED_NAMES)[number];

/** For the same place in both engines, since a move copies them unopened. */
export function sealFact(vault: Vault, name: SealedName, plain: string): string {
  return vault.seal(plain, placeOf(name));
}

export function openFact(vault: Vault, name: SealedName, sealed: string): string {
  return vault.open(sealed, placeOf(name));
}

function placeOf(name: SealedName): string {
  return `meta/${name}`;
}
