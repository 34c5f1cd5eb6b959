import type { Clock } from "../../../core/clock.ts";
import { NOTHING_IN_FLIGHT } from "../../../core/queue/in-flight-jobs.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { Notifier } from "../../notifier.ts";
import type { Outbox } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createDueLooks, type FirstDue } from "../queue/due-looks.ts";
import { MAY_END } from "../queue/leases.ts";
import { ACCOUNT_ID, type LaneRow, lanesOf } from "./webhook-locks.ts";

/** `Outbox.stage` and `Outbox.nextDueAt`: retries and dead leases in one sweep. */
export function createWebhookStage(
  session: Session,
  notifier: Pick<Notifier<Lane>, "notify">,
  clock: Pick<Clock, "monotonicMs">,
): Pick<Outbox, "stage" | "nextDueAt"> {
  const dueLooks = createDueLooks(clock, async (from) => {
    const [row] = await session.query<FirstDue>(FIRST, [from.leased, from.waiting]);
    return row ?? { leased: null, waiting: null };
  });
  return {
    async stage(now, limit, { inFlight, process } = NOTHING_IN_FLIGHT) {
      const { leased, waiting } = dueLooks.floors();
      const values = [now, limit, inFlight, process ?? null, leased, waiting];
      const staged = await session.query<LaneRow>(STAGE, values);
      notifier.notify(lanesOf(staged));
      return staged.length;
    },
    nextDueAt: dueLooks.next,
  };
}

/** Finds webhooks whose time has come, and is not before `from`. Skips those that other transactions have locked. */
const DUE = (
  filter: string,
  { from, limit }: { readonly from: string; readonly limit: string },
) => `SELECT id FROM webhooks
    WHERE ${filter} AND due_at >= ${from} AND due_at <= $1 ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;

const MAY_BE_STAGED = `state = 'leased' AND id <> ALL($3::bigint[]) AND ${MAY_END}`;

/** By a list of ids, as in `lockWebhooks`. */
const STAGE = `WITH leased AS (
    ${DUE(MAY_BE_STAGED, { from: "$5", limit: "$2" })}
  ), waiting AS (
    ${DUE("state = 'waiting'", { from: "$6", limit: "$2 - (SELECT count(*) FROM leased)" })}
  )
  UPDATE webhooks w SET state = 'ready', due_at = NULL
  WHERE w.id = ANY(ARRAY(SELECT id FROM leased UNION ALL SELECT id FROM waiting))
  RETURNING ${ACCOUNT_ID} AS account_id, w.lane`;

/** Not by `min`, as in `queue/stage.ts`. */
const first = (state: string, from: string) => `(SELECT due_at FROM webhooks
  WHERE state = '${state}' AND due_at >= ${from}::bigint ORDER BY due_at LIMIT 1)`;

const FIRST = `SELECT ${first("leased", "$1")} AS leased, ${first("waiting", "$2")} AS waiting`;
