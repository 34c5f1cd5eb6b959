/** Receipts that name a message by our id: the provider was given it with the message, so it has been handed the message. */
import { expect, test } from "bun:test";
import type { PartOutcome, Receipt } from "../../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import {
  CONNECTOR,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

const OTHER = "connector-b";
const NEVER_ASKED = "connector-c";

const UNDELIVERED = {
  status: "undelivered",
  error: { code: "receipt.undelivered", message: "lost" },
} as const;

/** What the provider says by our id. */
function tell(world: World, id: string, over: Partial<Receipt> = {}) {
  return world.receive(id, { isOwnId: true, ...over });
}

const again = ({ clock }: World) => ({ kind: "again", dueAt: clock.now }) as const;

async function begin(world: World): Promise<ClaimedJob> {
  await world.sms();
  return world.claimOne();
}

/** The next claim, also where the one before was never settled. */
async function nextJob(world: World): Promise<ClaimedJob> {
  world.clock.now += 120 * SECOND;
  await world.store.queue.stage(world.clock.now, 10);
  return world.claimOne();
}

/** How the first attempt ends, so that another connector sends the message; and whether the store knows whose it was. */
const FIRST_TRIES: Readonly<Record<string, (world: World, job: ClaimedJob) => Promise<unknown>>> = {
  "was put off": (world, job) => world.settle(job, { outcomes: [deferred("http.503")], next: again(world) }),
  "was never answered": (world, job) => {
    const lost = { ...unconfirmed("http.no_answer"), providerMessageIds: [job.messageId] };
    return world.settle(job, { outcomes: [lost], next: again(world) });
  },
  "was interrupted": async () => {},
};

/** Handed to two connectors, one after the other; the second took it, in so many segments. */
async function sentTwice(world: World, firstTry: keyof typeof FIRST_TRIES, segments = 1): Promise<string> {
  const job = await begin(world);
  await FIRST_TRIES[firstTry]?.(world, job);
  const outcomes = Array.from({ length: segments }, (_, part) => sent(`b-${part}`));
  await world.settle(await nextJob(world), { connectorId: OTHER, outcomes });
  expect(await world.status(job.messageId)).toBe("sent");
  return job.messageId;
}

export function ownIdContract(open: OpenStore): void {
  for (const firstTry of Object.keys(FIRST_TRIES)) sentAgainContract(open, firstTry);
  sharedReportsContract(open);
  openMessageContract(open);
  forgedContract(open);
}

function sentAgainContract(open: OpenStore, firstTry: string): void {
  const title = `a message whose first try ${firstTry}, and that another connector has sent since,`;

  test(
    `${title} is delivered when the first says so; the other's receipt is late`,
    inWorld(open, async (world) => {
      const id = await sentTwice(world, firstTry);
      expect(await tell(world, id)).toEqual([{ kind: "applied", messageId: id }]);
      expect(await world.status(id)).toBe("delivered");
      expect(await world.receive("b-0", { connectorId: OTHER })).toMatchObject([{ kind: "late" }]);
      expect(await tell(world, id)).toMatchObject([{ kind: "late" }]);
      expect(await world.status(id)).toBe("delivered");
      expect((await world.message(id)).progress.sequence).toBe(2);
      expect(await world.store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    `${title} is delivered with all of its segments`,
    inWorld(open, async (world) => {
      const id = await sentTwice(world, firstTry, 3);
      await world.receive("b-1", { connectorId: OTHER });
      await tell(world, id);
      expect(await world.status(id)).toBe("delivered");
    }),
  );

  test(
    `${title} stays sent while the first alone says that it was not delivered, until the other tells its end`,
    inWorld(open, async (world) => {
      for (const [status, end] of [
        ["undelivered", "delivered"],
        ["failed", "delivered"],
        ["expired", "undelivered"],
      ] as const) {
        const id = await sentTwice(world, firstTry);
        const told = await tell(world, id, { ...UNDELIVERED, status });
        expect(await world.status(id)).toBe("sent");
        expect(told[0]?.kind).toBe(firstTry === "was never answered" ? "late" : "parked");
        await world.receive("b-0", { connectorId: OTHER, status: end });
        expect(await world.status(id)).toBe(end);
      }
    }),
  );
}

function sharedReportsContract(open: OpenStore): void {
  test(
    "where connectors share receipts, a report of the second copy counts though it comes over the first",
    inWorld(open, async (world) => {
      for (const firstTry of ["was put off", "was interrupted"]) {
        const job = await begin(world);
        const { messageId: id } = job;
        await FIRST_TRIES[firstTry]?.(world, job);
        await world.settle(await nextJob(world), { connectorId: OTHER, outcomes: [sent(id)] });
        const told = { ...UNDELIVERED, recipient: "+919812345678" };
        expect(await tell(world, id, told)).toEqual([{ kind: "parked" }]);
        await tell(world, id, { ...told, alsoOf: [OTHER] });
        expect(await world.status(id)).toBe("undelivered");
      }
    }),
  );
}

function openMessageContract(open: OpenStore): void {
  test(
    "a report that overtakes the answer settles the message, which is not sent again, whatever the answer is",
    inWorld(open, async (world) => {
      for (const outcome of [sent("own"), unconfirmed(), deferred()]) {
        const job = await begin(world);
        await tell(world, job.messageId);
        expect(await world.status(job.messageId)).toBe("delivered");
        expect(await world.settle(job, { outcomes: [outcome], next: again(world) })).toBe(true);
        expect(await world.status(job.messageId)).toBe("delivered");
        world.clock.now += 120 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        expect(await world.claim()).toEqual([]);
      }
    }),
  );

  test(
    "a report of the first try that comes while another connector sends the message delivers it",
    inWorld(open, async (world) => {
      for (const firstTry of Object.keys(FIRST_TRIES)) {
        const first = await begin(world);
        const { messageId: id } = first;
        await FIRST_TRIES[firstTry]?.(world, first);
        const second = await nextJob(world);
        await tell(world, id);
        expect(await world.settle(second, { connectorId: OTHER, outcomes: [sent(`b-${id}`)] })).toBe(true);
        expect(await world.status(id)).toBe("delivered");
        expect(await world.receive(`b-${id}`, { connectorId: OTHER, ...UNDELIVERED })).toMatchObject([
          { kind: "late" },
        ]);
        expect(await world.status(id)).toBe("delivered");
        expect(await world.store.receipts.countParked()).toBe(0);
      }
    }),
  );

  test(
    "that the first try failed does not end a message that another connector is sending; that the same one's did, does",
    inWorld(open, async (world) => {
      for (const firstTry of Object.keys(FIRST_TRIES))
        for (const connectorId of [OTHER, CONNECTOR])
          for (const prefix of ["", "p-1 "]) {
            const first = await begin(world);
            const { messageId: id } = first;
            await FIRST_TRIES[firstTry]?.(world, first);
            const second = await nextJob(world);
            expect(await tell(world, id, UNDELIVERED)).toEqual([{ kind: "parked" }]);
            expect(await world.status(id)).toBe("sending");
            await world.settle(second, { connectorId, outcomes: [sent(prefix + id)] });
            expect(await world.status(id)).toBe(connectorId === OTHER ? "sent" : "undelivered");
          }
    }),
  );

  test(
    "that the first try failed ends the message where the same connector does not take it again, but for one that is known not to have taken it before",
    inWorld(open, async (world) => {
      for (const firstTry of Object.keys(FIRST_TRIES)) {
        const first = await begin(world);
        const { messageId: id } = first;
        await FIRST_TRIES[firstTry]?.(world, first);
        const second = await nextJob(world);
        await tell(world, id, UNDELIVERED);
        const mayHaveLeft = firstTry === "was interrupted" && ({ mayHaveLeft: true } as const);
        const outcome = { ...deferred("http.503"), ...mayHaveLeft } as PartOutcome;
        await world.settle(second, { outcomes: [outcome], next: again(world) });
        expect(await world.status(id)).toBe(firstTry === "was put off" ? "queued" : "undelivered");
      }
    }),
  );

  test(
    "where connectors share reports, one of the copy under way counts once that is known",
    inWorld(open, async (world) => {
      const first = await begin(world);
      const { messageId: id } = first;
      await FIRST_TRIES["was never answered"]?.(world, first);
      const second = await nextJob(world);
      const told = { ...UNDELIVERED, recipient: "+919812345678" };
      await tell(world, id, told);
      expect(await tell(world, id, { ...told, alsoOf: [OTHER] })).toEqual([{ kind: "parked" }]);
      await world.settle(second, { connectorId: OTHER, outcomes: [sent(id)] });
      expect(await world.status(id)).toBe("sent");
      await tell(world, id, { ...told, alsoOf: [OTHER] });
      expect(await world.status(id)).toBe("undelivered");
      expect(await world.store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "a report by our id is about all segments, also where an earlier connector has counted them and the answer was lost",
    inWorld(open, async (world) => {
      for (const status of ["delivered", "undelivered"] as const) {
        const job = await begin(world);
        const { messageId: id } = job;
        const put = { connectorId: OTHER, outcomes: [deferred(), deferred(), deferred()] };
        await world.settle(job, { ...put, next: again(world) });
        const lost = { ...unconfirmed("http.no_answer"), providerMessageIds: [id] };
        const next = { kind: "held", dueAt: world.clock.now + 3_600 * SECOND } as const;
        await world.settle(await nextJob(world), { outcomes: [lost, lost, lost], next });
        await tell(world, id, { status });
        expect(await world.status(id)).toBe(status);
      }
    }),
  );

  test(
    "a report of an interrupted attempt that comes after the end of the message is told on its timeline",
    inWorld(open, async (world) => {
      const { messageId: id } = await begin(world);
      const { jobId, claim, messageId } = await nextJob(world);
      const nothing = { countsAsAttempt: false, keepsContent: false, outcomes: [] };
      const next = { kind: "done", end: "unconfirmed" } as const;
      await world.store.queue.settle([{ jobId, claim, messageId, at: world.clock.now, ...nothing, next }]);
      expect(await world.status(id)).toBe("failed");
      expect(await tell(world, id)).toEqual([{ kind: "late", messageId: id }]);
      expect(await world.status(id)).toBe("failed");
      expect((await world.history(id)).at(-1)).toBe("late_receipt:failed");
    }),
  );

  test(
    "what another connector may have is not ended by one that says the message was not delivered",
    inWorld(open, async (world) => {
      const job = await begin(world);
      const { messageId: id } = job;
      await FIRST_TRIES["was put off"]?.(world, job);
      const next = { kind: "held", dueAt: world.clock.now + 3_600 * SECOND } as const;
      await world.settle(await nextJob(world), { connectorId: OTHER, outcomes: [unconfirmed()], next });
      await tell(world, id, UNDELIVERED);
      expect(await world.status(id)).toBe("sending");
      await tell(world, id);
      expect(await world.status(id)).toBe("delivered");
    }),
  );
}

function forgedContract(open: OpenStore): void {
  test(
    "one that was never handed the message says nothing about it once it is sent, whatever else it was handed",
    inWorld(open, async (world) => {
      await world.settle(await begin(world), { connectorId: NEVER_ASKED, outcomes: [sent("c-0")] });
      const job = await begin(world);
      const { messageId: id } = job;
      await world.settle(job, { outcomes: [deferred()], next: again(world) });
      await world.settle(await nextJob(world), { connectorId: OTHER, outcomes: [sent("b-0")] });
      const elsewhere = { connectorId: NEVER_ASKED };
      expect(await tell(world, id, elsewhere)).toEqual([{ kind: "parked" }]);
      expect(await tell(world, id, { ...elsewhere, ...UNDELIVERED })).toEqual([{ kind: "parked" }]);
      expect(await world.status(id)).toBe("sent");
    }),
  );

  test(
    "an id that is no message's, or an email's, is parked",
    inWorld(open, async (world) => {
      const id = await world.email({
        parts: [{ status: "pending", address: "a@a.test" }],
        jobs: [{ queue: "queue-a" }],
      });
      await world.settle(await world.claimOne());
      for (const none of [id, world.id()]) expect(await tell(world, none)).toEqual([{ kind: "parked" }]);
      expect(await world.status(id, "email")).toBe("sent");
    }),
  );
}
