import type { Lane, WebhookAttempt, WebhookSettlement } from "../../../core/webhooks/webhook-outbox.ts";
import type { Notifier } from "../../notifier.ts";
import type { Outbox } from "../../store.ts";
import { MAX_ATTEMPTS, OVERTAKEN_AFTER_FAILURES, outcomeOf } from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";
import { createListCommit } from "../database/group-commit.ts";
import type { Database, Transaction } from "../database/transactions.ts";
import { type LaneRow, type LockedWebhook, lanesOf, letNextGo, lockWebhooks } from "./webhook-locks.ts";

/** `Outbox.settle`. */
export function createWebhookSettle(
  db: Database,
  notifier: Pick<Notifier<Lane>, "notify">,
): Outbox["settle"] {
  return createListCommit(async (settlements) => {
    const { results, ready } = await db.transaction(async (session) => {
      const ids = [...new Set(settlements.map(({ id }) => id))];
      const settling = createSettling(await lockWebhooks(session, ids, [1]));
      const results = settlements.map(settling.settle);
      write(session, settling);
      const freed = await letNextGo(session, settling.outOfTheWay);
      return { results, ready: [...settling.ready, ...freed], noted: settling.notes[0] };
    }, isNoted);
    notifier.notify(lanesOf(ready));
    return results;
  });
}

/**
 * Whether the settlements are stored: one delivery stands for all, exactly as it was noted, since another process may have taken
 * the event over and noted its own delivery under that number. If none was noted, that cannot be told.
 */
async function isNoted(
  session: Session,
  { noted }: { readonly noted: Note | undefined },
): Promise<boolean | undefined> {
  if (!noted) return undefined;
  const { id, number, attempt } = noted;
  const sql = "SELECT 1 FROM webhook_attempts WHERE webhook = $1 AND number = $2 AND at = $3 AND ms = $4";
  return (await session.query(sql, [id, number, attempt.at, attempt.ms])).length > 0;
}

interface Note {
  readonly id: number;
  readonly number: number;
  readonly attempt: WebhookAttempt;
}

/** Applies settlements to the locked webhooks in memory, and collects what is to be written. */
interface Settling {
  /** False if the claim is no longer the latest. */
  settle(settlement: WebhookSettlement): boolean;
  readonly changed: ReadonlyMap<number, LockedWebhook>;
  readonly notes: readonly Note[];
  readonly ready: readonly LaneRow[];
  readonly outOfTheWay: readonly { readonly messageId: string; readonly sequence: number }[];
}

function createSettling(locked: ReadonlyMap<number, LockedWebhook>): Settling {
  const changed = new Map<number, LockedWebhook>();
  const notes: Note[] = [];
  const ready: LaneRow[] = [];
  const outOfTheWay: { messageId: string; sequence: number }[] = [];

  const note = ({ id, attempt, verdict }: WebhookSettlement, row: LockedWebhook): LockedWebhook => {
    if (verdict.kind === "released") return row;
    const noted = { ...row, attempts: row.attempts + 1 };
    notes.push({ id, number: noted.attempts, attempt });
    changed.set(id, noted);
    return noted;
  };
  const settle = (settlement: WebhookSettlement): boolean => {
    const { id, messageId, claim, verdict } = settlement;
    const before = changed.get(id) ?? locked.get(id);
    if (before?.message_id !== messageId) return false;
    const row = note(settlement, before);
    // A delivery whose lease has run out may still settle, unless the event was claimed again.
    if (row.claim !== claim || (row.state !== "leased" && row.state !== "ready")) return false;
    const { state, dueAt, failures } = outcomeOf(verdict, row.failures);
    changed.set(id, { ...row, state, due_at: dueAt, failures });
    if (state === "ready") ready.push(row);
    else if (state !== "waiting" || failures >= OVERTAKEN_AFTER_FAILURES) {
      outOfTheWay.push({ messageId, sequence: row.sequence });
    }
    return true;
  };
  return { settle, changed, notes, ready, outOfTheWay };
}

function write(session: Transaction, { changed, notes }: Settling): void {
  if (changed.size === 0) return;
  const rows = [...changed.values()];
  const full = rows.filter(({ attempts }) => attempts > MAX_ATTEMPTS);
  session.run(WRITE, [
    ...noteColumns(notes),
    full.map(({ id }) => id),
    full.map(({ attempts }) => attempts - MAX_ATTEMPTS),
    rows.map(({ id }) => id),
    rows.map(({ state }) => state),
    rows.map((row) => row.due_at),
    rows.map(({ failures }) => failures),
    rows.map(({ attempts }) => attempts),
  ]);
}

function noteColumns(notes: readonly Note[]) {
  return [
    notes.map(({ id }) => id),
    notes.map(({ number }) => number),
    notes.map(({ attempt }) => attempt.at),
    notes.map(({ attempt }) => attempt.ms),
    notes.map(({ attempt }) => attempt.status ?? null),
    notes.map(({ attempt }) => attempt.head ?? null),
    notes.map(({ attempt }) => attempt.error?.code ?? null),
    notes.map(({ attempt }) => attempt.error?.message ?? null),
  ];
}

/**
 * Stores the attempts, keeping the last `MAX_ATTEMPTS` of each webhook, and updates the webhooks. A webhook that is still leased, since
 * only a late attempt was noted, keeps its holder.
 */
const WRITE = `WITH noted AS (
    INSERT INTO webhook_attempts (webhook, number, at, ms, status, head, error_code, error)
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[])
  ), forgotten AS (
    DELETE FROM webhook_attempts a WHERE a.webhook = ANY($9)
      AND a.number <= (SELECT t.last FROM unnest($9::bigint[], $10::int[]) AS t (id, last) WHERE t.id = a.webhook)
  )
  UPDATE webhooks w SET state = t.state, due_at = t.due_at, failures = t.failures, attempts = t.attempts,
    holder = CASE WHEN t.state = 'leased' THEN w.holder END
  FROM unnest($11::bigint[], $12::text[], $13::bigint[], $14::int[], $15::int[])
    AS t (id, state, due_at, failures, attempts)
  WHERE w.id = ANY(ARRAY[t.id])`;
