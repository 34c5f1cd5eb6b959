/** An SMS of which two connectors may have sent a copy: what the receipts of either decide. */
import { expect, test } from "bun:test";
import type { PartOutcome, Receipt } from "../../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../../core/queue/claimed-job.ts";
import { partReference } from "../../core/receipts/short-reference.ts";
import {
  CONNECTOR,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "./world.contract.ts";

const TO = "+919812345678";
const OTHER = "connector-b";
const THIRD = "connector-c";

/** What the connector says of the message by the reference that its copy was sent with. */
function tell(world: World, id: string, over: Partial<Receipt>) {
  return world.receive(`${over.connectorId} ${id}`, {
    reference: partReference(id, 0),
    recipient: TO,
    ...over,
  });
}

/** The next claim of a message that is to be tried again. */
async function nextJob(world: World): Promise<ClaimedJob> {
  world.clock.now += 120 * SECOND;
  await world.store.queue.stage(world.clock.now, 10);
  return world.claimOne();
}

function triedBy(world: World, connectorId: string, outcome: PartOutcome): Partial<Settlement> {
  const next = { kind: "again", dueAt: world.clock.now } as const;
  return { connectorId, outcomes: [outcome], next };
}

/** Sent by one connector after the other, none of which has answered. */
async function neverAnsweredBy(world: World, connectors: readonly string[]): Promise<string> {
  const [id = ""] = await world.sms({ to: [TO] });
  for (const connectorId of connectors)
    await world.settle(await nextJob(world), triedBy(world, connectorId, unconfirmed()));
  expect(await world.status(id)).toBe("queued");
  return id;
}

export function copiesContract(open: OpenStore): void {
  unansweredContract(open);
  underWayContract(open);
  answeredLateContract(open);
}

function unansweredContract(open: OpenStore): void {
  const COPIES = [CONNECTOR, OTHER, THIRD];

  for (const connectorId of COPIES)
    test(
      `of copies none of which was answered, that of ${connectorId} delivers the message, which is not sent again`,
      inWorld(open, async (world) => {
        const id = await neverAnsweredBy(world, COPIES);
        expect(await tell(world, id, { connectorId })).toEqual([{ kind: "applied", messageId: id }]);
        expect(await world.status(id)).toBe("delivered");
        for (const other of COPIES)
          expect(await tell(world, id, { connectorId: other, status: "failed" })).toMatchObject([
            { kind: "late" },
          ]);
        expect(await world.status(id)).toBe("delivered");
        expect(await world.store.receipts.countParked()).toBe(0);
        world.clock.now += 120 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        expect(await world.claim()).toEqual([]);
      }),
    );

  test(
    "that the first of them was not delivered decides nothing; that the last was not ends the message",
    inWorld(open, async (world) => {
      for (const status of ["undelivered", "expired", "failed"] as const) {
        const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
        expect(await tell(world, id, { connectorId: CONNECTOR, status })).toMatchObject([{ kind: "late" }]);
        expect(await world.status(id)).toBe("queued");
        expect(await tell(world, id, { connectorId: OTHER, status })).toMatchObject([{ kind: "applied" }]);
        expect(await world.status(id)).toBe(status);
      }
    }),
  );
}

function underWayContract(open: OpenStore): void {
  /** The first copy has failed while the second is on its way. */
  async function failedMeanwhile(world: World, over: Partial<Receipt> = {}) {
    const id = await neverAnsweredBy(world, [CONNECTOR]);
    const job = await nextJob(world);
    const told = await tell(world, id, { connectorId: CONNECTOR, status: "undelivered", ...over });
    expect(told).toEqual([{ kind: "parked" }]);
    expect(await world.status(id)).toBe("sending");
    return { id, job };
  }

  test(
    "that the first was not delivered does not end the message while another is sending it, which may deliver it",
    inWorld(open, async (world) => {
      for (const status of ["undelivered", "expired", "failed"] as const) {
        const { id, job } = await failedMeanwhile(world, { status });
        await world.settle(job, { connectorId: OTHER, outcomes: [sent(`b ${id}`)] });
        expect(await world.status(id)).toBe("sent");
        await world.receive(`b ${id}`, { connectorId: OTHER });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "nor if that other one does not answer either, or puts it off: it is tried again",
    inWorld(open, async (world) => {
      for (const outcome of [unconfirmed(), deferred()]) {
        const { id, job } = await failedMeanwhile(world);
        await world.settle(job, triedBy(world, OTHER, outcome));
        expect(await world.status(id)).toBe("queued");
        await world.settle(await nextJob(world), { connectorId: OTHER, outcomes: [sent(`b ${id}`)] });
        await world.receive(`b ${id}`, { connectorId: OTHER });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "if the same one was sending it again, and does not answer, the message ends by what it told",
    inWorld(open, async (world) => {
      const { id, job } = await failedMeanwhile(world);
      await world.settle(job, triedBy(world, CONNECTOR, unconfirmed()));
      expect(await world.status(id)).toBe("undelivered");
      expect(await world.store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "a message that is held, and that nobody is sending, ends at once by what its connector tells",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const next = { kind: "held", dueAt: world.clock.now + 3_600 * SECOND } as const;
      await world.settle(await world.claimOne(), { outcomes: [unconfirmed()], next });
      await tell(world, id, { connectorId: CONNECTOR, status: "undelivered" });
      expect(await world.status(id)).toBe("undelivered");
    }),
  );

  test(
    "nor does one wait whose account holds it: an interrupted message is claimed only to be held, and ends by what is told",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const [id = ""] = await world.sms({ to: [TO] });
      const slow = await world.claimOne();
      const job = await nextJob(world);
      await world.settle(slow, { outcomes: [sent("a-0")] });
      expect(await world.receive("a-0", { status: "undelivered" })).toMatchObject([{ kind: "applied" }]);
      const { jobId, claim, messageId } = job;
      const held = { countsAsAttempt: false, keepsContent: false, outcomes: [unconfirmed()] };
      const next = { kind: "held", dueAt: world.clock.now + 3_600 * SECOND } as const;
      await world.store.queue.settle([{ jobId, claim, messageId, at: world.clock.now, ...held, next }]);
      expect(await world.status(id)).toBe("undelivered");
      world.clock.now += 7_200 * SECOND;
      await world.store.queue.stage(world.clock.now, 10);
      expect(await world.claim()).toEqual([]);
    }),
  );

  test(
    "a failed segment that is not being sent again ends the message though another of it is being sent",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const again = { kind: "again", dueAt: world.clock.now } as const;
      await world.settle(await world.claimOne(), { outcomes: [sent("a-0"), unconfirmed()], next: again });
      await nextJob(world);
      await world.receive("a-0", { status: "failed" });
      expect(await world.status(id)).toBe("failed");
    }),
  );

  test(
    "an id that came after the lease had ended is that of an earlier copy as well",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const slow = await world.claimOne();
      const job = await nextJob(world);
      expect(await world.settle(slow, { outcomes: [sent("a-0")] })).toBe(false);
      expect(await world.receive("a-0", { status: "undelivered" })).toEqual([{ kind: "parked" }]);
      await world.settle(job, { connectorId: OTHER, outcomes: [sent("b-0")] });
      await world.receive("b-0", { connectorId: OTHER });
      expect(await world.status(id)).toBe("delivered");
    }),
  );
}

function answeredLateContract(open: OpenStore): void {
  /** The first connector's answer has come while the second was sending the message, which that one has taken as well. */
  async function takenByBoth(world: World): Promise<string> {
    const id = await neverAnsweredBy(world, [CONNECTOR]);
    const job = await nextJob(world);
    const answer = {
      connectorId: CONNECTOR,
      messageId: id,
      part: 0,
      parts: 1,
      providerMessageIds: [`a ${id}`],
    };
    await world.store.receipts.recordLateAnswer(answer, world.clock.now);
    await world.settle(job, { connectorId: OTHER, outcomes: [sent(`b ${id}`)] });
    expect(await world.status(id)).toBe("sent");
    return id;
  }

  test(
    "of a message that the first has taken all along, and the second has been sent meanwhile, the second's failure counts",
    inWorld(open, async (world) => {
      for (const status of ["delivered", "undelivered"] as const) {
        const id = await takenByBoth(world);
        expect(await world.receive(`a ${id}`, { status: "undelivered" })).toMatchObject([{ kind: "late" }]);
        expect(await world.status(id)).toBe("sent");
        await world.receive(`b ${id}`, { connectorId: OTHER, status });
        expect(await world.status(id)).toBe(status);
      }
    }),
  );

  test(
    "the first's receipt delivers it all the same",
    inWorld(open, async (world) => {
      const id = await takenByBoth(world);
      await world.receive(`a ${id}`);
      expect(await world.status(id)).toBe("delivered");
      await world.receive(`b ${id}`, { connectorId: OTHER, status: "undelivered" });
      expect(await world.status(id)).toBe("delivered");
    }),
  );
}
