import type { OptOutQuery } from "../inbound.ts";
import type { OptOutWishes } from "../take-inbound.ts";
import type { Session } from "./driver.ts";

/** Those of `to` who have opted out. */
export async function findOptOuts(
  session: Session,
  { accountId, sender, to }: OptOutQuery,
): Promise<readonly string[]> {
  if (to.length === 0) return [];
  const rows = await session.query<{ recipient: string }>(AMONG, [accountId, sender ?? null, [...to]]);
  return rows.map(({ recipient }) => recipient);
}

const AMONG = `SELECT recipient FROM unnest($3::text[]) WITH ORDINALITY AS t (recipient, place)
  WHERE EXISTS (SELECT 1 FROM opt_outs o WHERE o.account_id = $1 AND o.recipient = t.recipient
    AND (o.sender IS NULL OR o.sender = $2)) ORDER BY place`;

/** What handsets have asked for within a transaction, one after the other, and what it comes to. */
export interface CollectedWishes {
  readonly wishes: OptOutWishes;
  write(session: Session): Promise<void>;
}

type OptOut = Parameters<OptOutWishes["add"]>[0];

/** One sender's, or all of an account's, messages to one recipient. */
interface Wish {
  readonly accountId: string;
  readonly sender: string | undefined;
  readonly recipient: string;
  /** What there was before is taken back. */
  isCleared: boolean;
  optOut?: OptOut | undefined;
}

export function collectWishes(): CollectedWishes {
  const targets = new Map<string, Wish>();
  const targetOf = ({ accountId, sender, recipient }: Omit<Wish, "isCleared" | "optOut">) => {
    const name = JSON.stringify([accountId, sender ?? null, recipient]);
    const target = targets.get(name) ?? { accountId, sender, recipient, isCleared: false };
    targets.set(name, target);
    return target;
  };
  return {
    wishes: {
      add(optOut) {
        targetOf(optOut).optOut ??= optOut;
      },
      remove(who) {
        const ofAll = { ...who, sender: undefined };
        for (const each of [targetOf(who), targetOf(ofAll)]) {
          each.isCleared = true;
          each.optOut = undefined;
        }
      },
    },
    async write(session) {
      const all = [...targets.values()];
      await clear(
        session,
        all.filter(({ isCleared }) => isCleared),
      );
      await insert(
        session,
        all.flatMap(({ optOut }) => optOut ?? []),
      );
    },
  };
}

async function clear(session: Session, targets: readonly Wish[]): Promise<void> {
  if (targets.length === 0) return;
  await session.query(CLEAR, [
    targets.map(({ accountId }) => accountId),
    targets.map(({ sender }) => sender ?? null),
    targets.map(({ recipient }) => recipient),
  ]);
}

const CLEAR = `DELETE FROM opt_outs o USING unnest($1::text[], $2::text[], $3::text[]) AS t (account_id, sender, recipient)
  WHERE o.account_id = t.account_id AND o.recipient = t.recipient AND o.sender IS NOT DISTINCT FROM t.sender`;

async function insert(session: Session, optOuts: readonly OptOut[]): Promise<void> {
  if (optOuts.length === 0) return;
  await session.query(INSERT, [
    optOuts.map(({ id }) => id),
    optOuts.map(({ accountId }) => accountId),
    optOuts.map(({ sender }) => sender ?? null),
    optOuts.map(({ recipient }) => recipient),
    optOuts.map(({ reason }) => reason),
    optOuts.map(({ at }) => at),
  ]);
}

const INSERT = `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
  ON CONFLICT DO NOTHING`;
