import type { Clock } from "../../../core/clock.ts";
import type { ClaimedWebhook, Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { InboundRow } from "../../inbound/inbound-rows.ts";
import type { Notifier } from "../../notifier.ts";
import { passOver } from "../../pass-over.ts";
import type { Outbox, WebhookClaim } from "../../store.ts";
import { eventsOf, someOf } from "../../webhooks/some-lanes.ts";
import {
  createBodyWriter,
  type EventRow,
  inboundBody,
  type WebhookBody,
} from "../../webhooks/webhook-body.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";
import { createLaneFloors, type LaneFloors } from "./lane-floors.ts";
import { type LaneRow, lanesOf, letNextGo, toLaneOf } from "./webhook-locks.ts";

/** `Outbox.claim` and `Outbox.readyLanes`. */
export function createWebhookClaim(
  db: Database,
  notifier: Pick<Notifier<Lane>, "notify">,
  clock: Clock,
): Pick<Outbox, "claim" | "readyLanes"> {
  const floors = createLaneFloors(db, clock);
  return {
    async claim(request) {
      const { claimed, freed } = await passOver({
        limit: eventsOf(request),
        now: request.now,
        async run(limit, take: Take) {
          const some = someOf(request, limit);
          const { leased, ...result } = await db.transaction(
            (session) => claimNow(session, some, { floors, take }),
            (session, { claimed }) => isLeased(session, some, claimed),
          );
          // Only after the commit, as in `queue/claim.ts`.
          floors.note(some.lanes, idsOf(leased, some));
          return result;
        },
        putOff: ({ id }, dueAt) => db.query(PUT_OFF, [id, dueAt]),
      });
      notifier.notify(lanesOf(freed));
      return claimed;
    },
    async readyLanes({ after, limit }) {
      const rows = await db.query<LaneRow>(LANES, [after?.accountId ?? null, after?.host ?? "", limit]);
      return rows.map(toLaneOf);
    },
  };
}

const PUT_OFF = "UPDATE webhooks SET state = 'waiting', due_at = $2 WHERE id = $1 AND state = 'ready'";

type Take = (events: readonly LeasedRow[]) => void;

interface ClaimedNow {
  readonly leased: readonly LeasedRow[];
  readonly claimed: readonly ClaimedWebhook[];
  readonly freed: readonly LaneRow[];
}

async function claimNow(
  session: Session,
  request: WebhookClaim,
  { floors, take }: { readonly floors: LaneFloors; readonly take: Take },
): Promise<ClaimedNow> {
  const starts = floors.startOf(request.lanes);
  const leased = await floors.timed(request.lanes, () => lease(session, request, starts));
  take(leased);
  const bodies = await readBodies(session, leased, request);
  const gone = leased.filter(({ id }) => !bodies.has(id));
  return { leased, claimed: toClaimed(leased, bodies, request), freed: await remove(session, gone) };
}

/** The ids of the events of each lane. */
function idsOf(leased: readonly LeasedRow[], { lanes }: WebhookClaim): readonly (readonly number[])[] {
  const ofLane = Map.groupBy(leased, ({ index }) => index);
  return lanes.map((_, index) => (ofLane.get(index + 1) ?? []).map(({ id }) => id));
}

/**
 * Whether the claim is stored: one event stands for all, and without one there is nothing to deliver. If it is not, another
 * process may have claimed the event meanwhile, under the same number.
 */
async function isLeased(
  session: Session,
  { now, leaseMs, process }: WebhookClaim,
  [event]: readonly ClaimedWebhook[],
): Promise<boolean> {
  if (!event) return true;
  const sql = `SELECT 1 FROM webhooks WHERE id = $1 AND claim = $2 AND state = 'leased' AND due_at = $3
    AND holder IS NOT DISTINCT FROM $4`;
  return (await session.query(sql, [event.id, event.claim, now + leaseMs, process ?? null])).length > 0;
}

interface LeasedRow {
  readonly id: number;
  /** Position of its lane in the request, from 1. */
  readonly index: number;
  readonly message_id: string;
  readonly sequence: number;
  readonly position: number;
  readonly failures: number;
  readonly claim: number;
}

async function lease(
  session: Session,
  { lanes, now, leaseMs, process }: WebhookClaim,
  starts: readonly number[],
): Promise<readonly LeasedRow[]> {
  const of = (isNewestFirst: boolean) => {
    const chosen = [...lanes.entries()].filter(([, lane]) => (lane.isNewestFirst ?? false) === isNewestFirst);
    if (chosen.length === 0) return [];
    return session.query<LeasedRow>(isNewestFirst ? LEASE_NEWEST : LEASE_OLDEST, [
      chosen.map(([, { lane }]) => lane.accountId),
      chosen.map(([, { lane }]) => lane.host),
      chosen.map(([, { limit }]) => limit),
      now + leaseMs,
      process ?? null,
      chosen.map(([index]) => index + 1),
      chosen.map(([index]) => starts[index] ?? 0),
    ]);
  };
  const rows = [...(await of(false)), ...(await of(true))];
  return rows.toSorted((one, other) => one.index - other.index || one.id - other.id);
}

/**
 * Skips events that another process is claiming at the moment. No comparison of the lane is an `=`, and the order names it: so only the index
 * of a lane's events in line has that order. Else, if all events were in line for one host when statistics were taken, the planner would
 * look for those of other hosts through all of them, by their ids.
 */
const leaseSql = (
  direction: "ASC" | "DESC",
) => `UPDATE webhooks SET state = 'leased', due_at = $4, claim = claim + 1, holder = $5
  FROM unnest($1::text[], $2::text[], $3::int[], $6::int[], $7::bigint[])
      AS l (account_id, host, wanted, index, start)
    JOIN accounts a ON a.id = l.account_id, LATERAL (
    SELECT w.id FROM webhooks w WHERE w.state = 'ready'
      AND (w.lane, w.id) > (a.number || ' ' || l.host, l.start) AND w.lane <= a.number || ' ' || l.host
    ORDER BY w.lane ${direction}, w.id ${direction} LIMIT l.wanted FOR UPDATE SKIP LOCKED
  ) AS picked
  WHERE webhooks.id = ANY(ARRAY[picked.id])
  RETURNING webhooks.id, l.index, message_id, sequence, position, failures, webhooks.claim`;

const LEASE_OLDEST = leaseSql("ASC");
const LEASE_NEWEST = leaseSql("DESC");

async function readBodies(
  session: Session,
  leased: readonly LeasedRow[],
  { lanes }: WebhookClaim,
): Promise<ReadonlyMap<number, WebhookBody>> {
  if (leased.length === 0) return new Map();
  const rows = await session.query<EventRow>(READ, [
    leased.map((row) => row.message_id),
    leased.map(({ position }) => position),
  ]);
  const inbound = await readInbound(session, rows);
  const write = createBodyWriter();
  return new Map(
    leased.flatMap(({ id, index }, at) => {
      const row = rows[at];
      if (!row) return [];
      const accountId = lanes[index - 1]?.lane.accountId ?? "";
      const body = row.message_recipient === null ? inbound.get(row.message_id) : write(row, accountId);
      return body ? [[id, body] as const] : [];
    }),
  );
}

/** A join and not `= ANY($1)`, so that each id is looked up only in the partition of its day. */
const READ = `SELECT p.message_id, m.recipient AS message_recipient, c.envelope, t.position, t.at, t.kind, t.status,
    t.sequence, t.event_type, t.recipient, t.error, t.detail
  FROM unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS p (message_id, position, index)
  LEFT JOIN messages m ON m.id = p.message_id
  LEFT JOIN contents c ON c.id = m.content
  LEFT JOIN timeline t ON t.message_id = p.message_id AND t.position = p.position
  ORDER BY p.index`;

async function readInbound(
  session: Session,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<string, WebhookBody>> {
  const ids = rows.flatMap((row) => (row.message_recipient === null ? [row.message_id] : []));
  if (ids.length === 0) return new Map();
  const found = await session.query<InboundRow>("SELECT * FROM inbound_messages WHERE id = ANY($1)", [ids]);
  return new Map(found.map((row) => [row.id, inboundBody(row)]));
}

function toClaimed(
  leased: readonly LeasedRow[],
  bodies: ReadonlyMap<number, WebhookBody>,
  { lanes }: WebhookClaim,
): readonly ClaimedWebhook[] {
  return leased.flatMap((row) => {
    const { id, claim, message_id: messageId, sequence, failures } = row;
    const lane = lanes[row.index - 1]?.lane;
    const body = bodies.get(id);
    return lane && body ? [{ id, claim, messageId, sequence, lane, failures, ...body }] : [];
  });
}

/** Deletes events whose messages are gone; returns the lanes of the events that they held back. */
async function remove(session: Session, gone: readonly LeasedRow[]): Promise<readonly LaneRow[]> {
  if (gone.length === 0) return [];
  await session.query("DELETE FROM webhooks WHERE id = ANY($1)", [gone.map(({ id }) => id)]);
  return letNextGo(
    session,
    gone.map(({ message_id: messageId, sequence }) => ({ messageId, sequence })),
  );
}

/** A loose index scan: one step per lane, however many events are in it. */
const LANES = `WITH RECURSIVE lanes AS (
    (SELECT lane, account FROM webhooks WHERE state = 'ready'
       AND lane > coalesce((SELECT number || ' ' || $2 FROM accounts WHERE id = $1), '') ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT next.lane, next.account FROM lanes, LATERAL (
      SELECT w.lane, w.account FROM webhooks w WHERE w.state = 'ready' AND w.lane > lanes.lane
      ORDER BY w.lane LIMIT 1) AS next
  )
  SELECT a.id AS account_id, l.lane FROM (SELECT lane, account FROM lanes LIMIT $3) AS l
  LEFT JOIN accounts a ON a.number = l.account ORDER BY l.lane`;
