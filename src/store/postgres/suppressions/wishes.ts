import type { ErasedForm } from "../../erasures/erased-recipient.ts";
import type { OptOutWishes } from "../../inbound/take-inbound.ts";
import type { Session } from "../database/driver.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { OptOutTarget } from "./opt-outs.ts";

/** Opt-outs and their withdrawals as one transaction brings them, one after the other; the result is written at the end. */
export interface CollectedWishes {
  readonly wishes: OptOutWishes;
  write(session: Session): Promise<void>;
}

type OptOut = Parameters<OptOutWishes["add"]>[0];

/** The result for one recipient and one sender, or all messages of an account. */
interface Wish extends OptOutTarget {
  /** Earlier opt-outs are to be deleted. */
  isCleared: boolean;
  optOut?: OptOut | undefined;
}

export function collectWishes(erasedNames: ErasedNames): CollectedWishes {
  const collected = new Map<string, Wish>();
  const wishOf = ({ accountId, sender, recipient }: OptOutTarget) => {
    const name = JSON.stringify([accountId, sender ?? null, recipient]);
    const wish = collected.get(name) ?? { accountId, sender, recipient, isCleared: false };
    collected.set(name, wish);
    return wish;
  };
  const wishes: OptOutWishes = {
    add(optOut) {
      wishOf(optOut).optOut ??= optOut;
    },
    remove(who) {
      for (const wish of [wishOf(who), wishOf({ ...who, sender: undefined })]) {
        wish.isCleared = true;
        wish.optOut = undefined;
      }
    },
  };
  const write = async (session: Session) => {
    if (collected.size === 0) return;
    const toErased = await erasedNames.form(session);
    const all = [...collected.values()];
    const cleared = all.filter(({ isCleared }) => isCleared);
    if (cleared.length > 0) await session.query(CLEAR, targetColumns(cleared, toErased));
    const added = all.flatMap(({ optOut }) => optOut ?? []);
    if (added.length > 0) await session.query(ADD, optOutColumns(added, toErased));
  };
  return { wishes, write };
}

function targetColumns(targets: readonly OptOutTarget[], toErased: ErasedForm | undefined) {
  return [
    targets.map(({ accountId }) => accountId),
    targets.map(({ sender }) => sender ?? null),
    targets.map(({ recipient }) => recipient),
    targets.map(({ recipient }) => toErased?.(recipient) ?? null),
  ];
}

const CLEAR = `DELETE FROM opt_outs o
  USING unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS t (account_id, sender, recipient, erased)
  WHERE o.account_id = t.account_id AND o.recipient = ANY(ARRAY[t.recipient, t.erased])
    AND o.sender IS NOT DISTINCT FROM t.sender`;

function optOutColumns(optOuts: readonly OptOut[], toErased: ErasedForm | undefined) {
  return [
    ...targetColumns(optOuts, toErased),
    optOuts.map(({ id }) => id),
    optOuts.map(({ reason }) => reason),
    optOuts.map(({ at }) => at),
  ];
}

/** Not where somebody who was erased opts out again: their opt-out is there, and their number is not stored again. */
const ADD = `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at)
  SELECT t.id, t.account_id, t.sender, t.recipient, t.reason, t.at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
    AS t (account_id, sender, recipient, erased, id, reason, at)
  WHERE NOT EXISTS (SELECT 1 FROM opt_outs o WHERE o.account_id = t.account_id AND o.recipient = t.erased
    AND o.sender IS NOT DISTINCT FROM t.sender)
  ON CONFLICT DO NOTHING`;
