import { type ErasureTask, LOOKS_PER_MESSAGE, type Stretch } from "../../erasures/erasure-work.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { NUMBERS } from "../unreadable-rows.ts";
import type { From } from "./erasures.ts";
import { createStretchEnd } from "./stretch-end.ts";

/** The accounts that one stretch looks in: those numbered above `from`, up to `to`. */
interface AccountStretch extends Pick<Stretch, "next"> {
  readonly from: number;
  readonly to: number;
}

/** SQL that tells the accounts of a stretch; ?2 and ?3 are its ends. */
export const OF_STRETCH = "number > ?2 AND number <= ?3";

/**
 * Goes through accounts in stretches, for tables whose rows are found by account and recipient. There may be so many
 * accounts that looking in all of them at once would take long, and in each of them something to erase.
 */
export function createAccountStretches(
  db: Database,
  accounts: AccountCache,
): (task: ErasureTask, from: From) => AccountStretch {
  const endOf = createStretchEnd<number>(db, { table: "accounts", key: "number", keys: NUMBERS });
  return ({ accountId }, { position, looks, goesOnAt }) => {
    if (accountId !== undefined) {
      const number = accounts.byId(accountId)?.number ?? 0;
      return { from: number - 1, to: number };
    }
    const from = Number(position);
    const end = endOf({ after: from, rows: looks / LOOKS_PER_MESSAGE }, (to) => goesOnAt(to?.toString()));
    if (end === undefined) return { from, to: Number.MAX_SAFE_INTEGER };
    return { from, to: end, next: String(end) };
  };
}
