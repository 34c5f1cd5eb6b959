import { NOTHING_IN_FLIGHT } from "../../../core/queue/in-flight-jobs.ts";
import type { Outbox } from "../../store.ts";
import type { CommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";
import { LEASE_ENDED } from "../queue/stage.ts";

/** `Outbox.stage` and `Outbox.nextDueAt`: retries and dead leases in one sweep. */
export function createWebhookStage(
  db: Database,
  notifier: Pick<CommitNotifier<string>, "notify">,
): Pick<Outbox, "stage" | "nextDueAt"> {
  const due = db.prepare<{ id: number; lane: string }>(
    `SELECT id, lane FROM webhooks
     WHERE state = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
  );
  const ready = db.prepare("UPDATE webhooks SET state = 'ready', due_at = NULL WHERE id = ?");
  const first = db.prepare<{ due_at: number | null }>(
    "SELECT min(due_at) AS due_at FROM webhooks WHERE state = ? AND due_at IS NOT NULL",
  );
  return {
    stage: (now, limit, { inFlight } = NOTHING_IN_FLIGHT) =>
      db.write(() => {
        const leased = due
          .all("leased", now, limit + inFlight.length)
          .filter(({ id }) => !inFlight.includes(id));
        leased.splice(limit);
        const rows = [...leased, ...due.all("waiting", now, limit - leased.length)];
        for (const { id, lane } of rows) {
          ready.run(id);
          notifier.notify(lane);
        }
        return rows.length;
      }, limit),
    nextDueAt: () =>
      db.read(() => {
        const times = ["leased", "waiting"].flatMap((state) => first.get(state)?.due_at ?? []);
        return times.length > 0 ? Math.min(...times) : undefined;
      }),
  };
}

/** At a start: events whose delivery was interrupted become due at once, as jobs do in `endDeadLeases`. */
export async function endDeadWebhookLeases(db: Database): Promise<void> {
  const end = db.prepare(
    `UPDATE webhooks SET due_at = ${LEASE_ENDED} WHERE state = 'leased' AND due_at IS NOT NULL`,
  );
  await db.write(() => end.run());
}
