/** A report by our own id about a copy that an attempt has made whose lease was lost, while the message is claimed again. */
import { expect, test } from "bun:test";
import type { Receipt } from "../../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import {
  CONNECTOR,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";
import { nextJob, OTHER, TO, triedBy } from "./copies-world.contract.ts";

/** Where in the story the report comes. */
const MOMENTS = ["sending", "interrupted", "claimed anew", "taken", "over"] as const;

type Moment = (typeof MOMENTS)[number];

/** A gateway that reports by our id gives it with its answer, perhaps beside an id of its own. */
const ANSWERS = [(id: string) => sent(id), (id: string) => sent(id, `g-${id}`)];

interface Story {
  readonly moment: Moment;
  readonly status: Receipt["status"];
  readonly answer: (typeof ANSWERS)[number];
  /** What the message has been through before. */
  readonly first?: ReturnType<typeof deferred>;
  /** The settlement of the attempt that the message was claimed for anew. */
  readonly latest: (world: World, job: ClaimedJob) => Promise<unknown>;
}

/** The message was settled before anything of it was left to send. */
function leftAlone(world: World, { jobId, claim, messageId }: ClaimedJob) {
  const next = { kind: "done" } as const;
  const settled = { jobId, claim, messageId, at: world.clock.now, outcomes: [], next };
  return world.store.queue.settle([{ ...settled, countsAsAttempt: false, keepsContent: false }]);
}

const putOffBy = (connectorId: string) => (world: World, job: ClaimedJob) =>
  world.settle(job, { connectorId, outcomes: [deferred()] });

const takenBy = (connectorId: string) => (world: World, job: ClaimedJob) =>
  world.settle(job, { connectorId, outcomes: [sent(job.messageId)] });

/** Put off once, say; then sent by an attempt that loses its lease and is settled late, while the message is claimed anew. */
async function play(world: World, { moment, status, answer, first, latest }: Story) {
  const [id = ""] = await world.sms({ to: [TO] });
  const report = async (now: Moment) => {
    if (now === moment) await world.receive(id, { isOwnId: true, status, recipient: TO });
  };
  if (first) await world.settle(await world.claimOne(), triedBy(world, CONNECTOR, first));
  const lost = await nextJob(world);
  await report("sending");
  world.clock.now += HOUR;
  await world.store.queue.stage(world.clock.now, 10);
  await report("interrupted");
  // A report that ends the message leaves nothing to be claimed.
  const [anew] = await world.claim(1);
  await report("claimed anew");
  await world.settle(lost, { outcomes: [answer(id)] });
  await report("taken");
  if (anew) await latest(world, anew);
  await report("over");
  return id;
}

export function ownIdTakenMeanwhileContract(open: OpenStore): void {
  for (const status of ["undelivered", "delivered"] as const)
    for (const moment of MOMENTS)
      test(
        `ends the message if no other copy was made, whenever it comes: ${status}, ${moment}`,
        inWorld(open, async (world) => {
          for (const first of [undefined, deferred(), unconfirmed()])
            for (const answer of ANSWERS)
              for (const latest of [leftAlone, putOffBy(OTHER), putOffBy(CONNECTOR)]) {
                const id = await play(world, { moment, status, answer, ...(first && { first }), latest });
                expect(await world.status(id)).toBe(status);
                expect(await world.store.receipts.parked({ limit: 10 })).toEqual([]);
              }
        }),
      );

  for (const moment of MOMENTS)
    test(
      `leaves the message to the copy that another connector has made, whenever it comes: ${moment}`,
      inWorld(open, async (world) => {
        // If the first try had no answer, a report before the second is about that one, and ends the message.
        const firsts = moment === "interrupted" ? [deferred()] : [deferred(), unconfirmed()];
        for (const first of firsts)
          for (const answer of ANSWERS)
            for (const end of ["undelivered", "delivered"] as const) {
              const story = { moment, status: "undelivered", answer, first } as const;
              const id = await play(world, { ...story, latest: takenBy(OTHER) });
              expect(await world.status(id)).toBe("sent");
              expect(await world.store.receipts.parked({ limit: 10 })).toEqual([]);
              await world.receive(id, { connectorId: OTHER, isOwnId: true, status: end, recipient: TO });
              expect(await world.status(id)).toBe(end);
            }
      }),
    );
}
