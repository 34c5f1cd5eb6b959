import { NOTHING_IN_FLIGHT } from "../../../core/queue/in-flight-jobs.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { Notifier } from "../../notifier.ts";
import type { Outbox } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { MAY_END } from "../queue/leases.ts";
import { ACCOUNT_ID, type LaneRow, lanesOf } from "./webhook-locks.ts";

/** `Outbox.stage` and `Outbox.nextDueAt`: retries and dead leases in one sweep. */
export function createWebhookStage(
  session: Session,
  notifier: Pick<Notifier<Lane>, "notify">,
): Pick<Outbox, "stage" | "nextDueAt"> {
  return {
    async stage(now, limit, { inFlight, process } = NOTHING_IN_FLIGHT) {
      const staged = await session.query<LaneRow>(STAGE, [now, limit, inFlight, process ?? null]);
      notifier.notify(lanesOf(staged));
      return staged.length;
    },
    async nextDueAt() {
      const [row] = await session.query<{ due_at: number | null }>(NEXT);
      return row?.due_at ?? undefined;
    },
  };
}

/** Finds webhooks whose time has come. Skips those that other transactions have locked. */
const DUE = (filter: string, limit: string) => `SELECT id FROM webhooks WHERE ${filter} AND due_at <= $1
    ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;

/** By a list of ids, as in `lockWebhooks`. */
const STAGE = `WITH leased AS (
    ${DUE(`state = 'leased' AND id <> ALL($3::bigint[]) AND ${MAY_END}`, "$2")}
  ), waiting AS (
    ${DUE("state = 'waiting'", "$2 - (SELECT count(*) FROM leased)")}
  )
  UPDATE webhooks w SET state = 'ready', due_at = NULL
  WHERE w.id = ANY(ARRAY(SELECT id FROM leased UNION ALL SELECT id FROM waiting))
  RETURNING ${ACCOUNT_ID} AS account_id, w.lane`;

/** Not by `min`, as in `queue/stage.ts`. */
const FIRST = (state: string) =>
  `(SELECT due_at FROM webhooks WHERE state = '${state}' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)`;

const NEXT = `SELECT least(${FIRST("leased")}, ${FIRST("waiting")}) AS due_at`;
