import type { WebhookAttempt, WebhookSettlement } from "../../../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../../store.ts";
import { MAX_ATTEMPTS, OVERTAKEN_AFTER_FAILURES, outcomeOf } from "../../webhooks/webhook-rows.ts";
import type { CommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";
import type { WebhookLog } from "./webhook-log.ts";

/** The weight of a settlement in a group commit: its statements. */
const WEIGHT = 2;

/** `Outbox.settle`. */
export function createWebhookSettle(db: Database, { log, notifier }: SettleParts): Outbox["settle"] {
  const find = db.prepare<LeasedRow>(
    "SELECT message_id, sequence, lane, state, failures, claim, attempts FROM webhooks WHERE id = ?",
  );
  const move = db.prepare(
    "UPDATE webhooks SET state = ?, due_at = ?, failures = ?, attempts = ? WHERE id = ?",
  );
  const count = db.prepare("UPDATE webhooks SET attempts = ? WHERE id = ?");
  const note = createAttemptNotes(db);

  const settleOne = ({ id, messageId, claim, verdict, attempt }: WebhookSettlement): boolean => {
    const row = find.get(id);
    if (row?.message_id !== messageId) return false;
    const attempts = verdict.kind === "released" ? row.attempts : note(id, row.attempts + 1, attempt);
    // A delivery whose lease has run out may still settle, unless the event was claimed again.
    if (row.claim !== claim || (row.state !== "leased" && row.state !== "ready")) {
      if (attempts > row.attempts) count.run(attempts, id);
      return false;
    }
    const { state, dueAt, failures } = outcomeOf(verdict, row.failures);
    move.run(state, dueAt, failures, attempts, id);
    if (state === "ready") notifier.notify(row.lane);
    else if (state !== "waiting" || failures >= OVERTAKEN_AFTER_FAILURES) {
      log.letNextGo({ messageId: row.message_id, sequence: row.sequence });
    }
    return true;
  };
  return (settlements) => db.write(() => settlements.map(settleOne), settlements.length * WEIGHT);
}

interface SettleParts {
  readonly log: WebhookLog;
  readonly notifier: Pick<CommitNotifier<string>, "notify">;
}

interface LeasedRow {
  readonly message_id: string;
  readonly sequence: number;
  readonly lane: string;
  readonly state: string;
  readonly failures: number;
  readonly claim: number;
  readonly attempts: number;
}

/** Stores an attempt, and keeps the last `MAX_ATTEMPTS` of the event. Returns the attempt's number. */
function createAttemptNotes(db: Database): (id: number, number: number, attempt: WebhookAttempt) => number {
  const insert = db.prepare(
    `INSERT INTO webhook_attempts (webhook, number, at, ms, status, head, error_code, error)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const forget = db.prepare("DELETE FROM webhook_attempts WHERE webhook = ? AND number <= ?");
  return (id, number, { at, ms, status, head, error }) => {
    insert.run(id, number, at, ms, status ?? null, head ?? null, error?.code ?? null, error?.message ?? null);
    if (number > MAX_ATTEMPTS) forget.run(id, number - MAX_ATTEMPTS);
    return number;
  };
}
