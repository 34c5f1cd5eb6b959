import type { ErasedForm } from "../../erasures/erased-recipient.ts";
import type { OptOutChanges, OptOutTarget } from "../../inbound/take-inbound.ts";
import type { Session } from "../database/driver.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";

/** Collects the opt-outs that a transaction adds and removes, in their order; `write` writes the result at its end. */
export interface CollectedOptOuts {
  readonly optOuts: OptOutChanges;
  write(session: Session): Promise<void>;
}

type OptOut = Parameters<OptOutChanges["add"]>[0];

/** The result for one recipient and one sender, or all senders of an account. */
interface Change extends OptOutTarget {
  /** Whether stored opt-outs are to be deleted. */
  isCleared: boolean;
  optOut?: OptOut | undefined;
}

export function collectOptOuts(erasedNames: ErasedNames): CollectedOptOuts {
  const collected = new Map<string, Change>();
  const changeOf = ({ accountId, sender, recipient }: OptOutTarget) => {
    const name = JSON.stringify([accountId, sender ?? null, recipient]);
    const change = collected.get(name) ?? { accountId, sender, recipient, isCleared: false };
    collected.set(name, change);
    return change;
  };
  const optOuts: OptOutChanges = {
    add(optOut) {
      changeOf(optOut).optOut ??= optOut;
    },
    remove(who) {
      for (const change of [changeOf(who), changeOf({ ...who, sender: undefined })]) {
        change.isCleared = true;
        change.optOut = undefined;
      }
    },
  };
  const write = async (session: Session) => {
    if (collected.size === 0) return;
    const toErased = await erasedNames.formToList(session);
    const all = [...collected.values()];
    const cleared = all.filter(({ isCleared }) => isCleared);
    if (cleared.length > 0) await session.query(CLEAR, targetColumns(cleared, toErased));
    const added = all.flatMap(({ optOut }) => optOut ?? []);
    if (added.length > 0) await session.query(ADD, optOutColumns(added, toErased));
  };
  return { optOuts, write };
}

function targetColumns(targets: readonly OptOutTarget[], toErased: ErasedForm | undefined) {
  return [
    targets.map(({ accountId }) => accountId),
    targets.map(({ sender }) => sender ?? null),
    targets.map(({ recipient }) => recipient),
    targets.map(({ recipient }) => toErased?.(recipient) ?? null),
  ];
}

/**
 * Opt-outs from one sender and those from all senders have an index each: a condition for both at once would read all of the account's.
 * `OFFSET 0`, here and below: if the table was empty when statistics were taken, the planner would compare all with all.
 */
const CLEAR = `WITH t AS (
    SELECT t.account_id, t.sender, names.name
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS t (account_id, sender, recipient, erased),
      LATERAL unnest(ARRAY[recipient, erased]) AS names (name)
  )
  DELETE FROM opt_outs WHERE id = ANY(ARRAY(
    SELECT o.id FROM t, LATERAL (
      SELECT id FROM opt_outs WHERE account_id = t.account_id AND sender = t.sender AND recipient = t.name OFFSET 0
    ) AS o
    UNION ALL
    SELECT o.id FROM t, LATERAL (
      SELECT id FROM opt_outs WHERE account_id = t.account_id AND sender IS NULL AND recipient = t.name OFFSET 0
    ) AS o WHERE t.sender IS NULL))`;

function optOutColumns(optOuts: readonly OptOut[], toErased: ErasedForm | undefined) {
  return [
    ...targetColumns(optOuts, toErased),
    optOuts.map(({ id }) => id),
    optOuts.map(({ reason }) => reason),
    optOuts.map(({ at }) => at),
  ];
}

/** Leaves out an erased recipient whose opt-out is stored in its erased form already: its number must not be stored again. */
const ADD = `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at)
  SELECT t.id, t.account_id, t.sender, t.recipient, t.reason, t.at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
    AS t (account_id, sender, recipient, erased, id, reason, at)
  WHERE NOT EXISTS (SELECT 1 FROM opt_outs o WHERE o.account_id = t.account_id AND o.recipient = t.erased
      AND o.sender = t.sender OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM opt_outs o WHERE o.account_id = t.account_id AND o.recipient = t.erased
      AND o.sender IS NULL AND t.sender IS NULL OFFSET 0)
  ON CONFLICT DO NOTHING`;
