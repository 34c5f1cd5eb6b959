/** Answers and receipts in whatever order, held against models of a few lines. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { inWorld, type OpenStore, sent, type World } from "../world.contract.ts";

/** On a slow machine there are fewer. */
const LIMITS = { numRuns: 25, interruptAfterTimeLimit: 30_000 };

/** Each run has a connector of its own, and so ids that nobody else has given. */
function connectors(): () => string {
  let runs = 0;
  return () => `connector-${++runs}`;
}

async function begin(world: World, to: string): Promise<ClaimedJob> {
  await world.sms({ to: [to] });
  return world.claimOne();
}

const answer = (world: World, job: ClaimedJob, { id, connectorId }: { id: string; connectorId: string }) =>
  world.settle(job, { connectorId, outcomes: [sent(id)] });

// ---------------------------------------------------------------- ids of their own, however written

const WAYS_TO_WRITE: Readonly<Record<string, (value: bigint, radix: number) => string>> = {
  same: (value, radix) => value.toString(radix).toUpperCase(),
  lower: (value, radix) => value.toString(radix),
  padded: (value, radix) => `000${value.toString(radix)}`,
  other: (value, radix) => value.toString(radix === 10 ? 16 : 10),
};

const message = fc.record({
  /** Far beyond 2^53, and below. */
  value: fc.bigInt({ min: 1n << 34n, max: 1n << 100n }),
  radix: fc.constantFrom(10, 16),
  /** How its receipts write the id; their places are drawn with `order`. */
  told: fc.array(fc.constantFrom(...Object.keys(WAYS_TO_WRITE)), { maxLength: 3 }),
});

const messages = fc.uniqueArray(message, { minLength: 1, maxLength: 5, selector: ({ value }) => value });

/** All readings of an id: digits may be of either base. */
function readings({ value, radix }: { value: bigint; radix: number }): readonly bigint[] {
  const written = value.toString(radix);
  return [BigInt(`0x${written}`), ...(/^\d+$/.test(written) ? [BigInt(written)] : [])];
}

function everyReceiptFindsItsMessage(open: OpenStore): void {
  const nextConnector = connectors();
  test(
    "whatever way its receipts write its id and whenever they come, exactly the message they are about is delivered",
    inWorld(open, async (world) => {
      const orders = fc.array(fc.nat(), { minLength: 20, maxLength: 20 });
      const property = fc.asyncProperty(messages, orders, async (all, order) => {
        const readable = all.flatMap(readings);
        fc.pre(new Set(readable).size === readable.length);
        const connectorId = nextConnector();
        const parkedBefore = await world.store.receipts.countParked();
        const steps: { rank: number; run: () => Promise<unknown> }[] = [];
        const add = (run: () => Promise<unknown>) =>
          steps.push({ rank: order[steps.length % order.length] ?? 0, run });
        const ids: string[] = [];
        for (const [index, { value, radix, told }] of all.entries()) {
          const recipient = `+9198123456${10 + index}`;
          const job = await begin(world, recipient);
          ids.push(job.messageId);
          add(() => answer(world, job, { id: value.toString(radix).toUpperCase(), connectorId }));
          for (const way of told) {
            const written = WAYS_TO_WRITE[way]?.(value, radix) ?? "";
            add(() => world.receive(written, { connectorId, recipient }));
          }
        }
        for (const { run } of steps.sort((a, b) => a.rank - b.rank)) await run();
        const statuses = await Promise.all(ids.map((id) => world.status(id)));
        expect(statuses).toEqual(all.map(({ told }) => (told.length > 0 ? "delivered" : "sent")));
        expect(await world.store.receipts.countParked()).toBe(parkedBefore);
      });
      await fc.assert(property, LIMITS);
    }),
    120_000,
  );
}

// ---------------------------------------------------------------- few ids, given out again and again

type Happening = { readonly kind: "sent" | "receipt"; readonly id: string };

const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom("sent" as const, "receipt" as const),
  id: fc.constantFrom("A1", "B2", "C3"),
});

/** By message in the order of sending: whether it is delivered; and how many receipts are left over. */
function expected(happenings: readonly Happening[]) {
  const sentWith: { id: string; isDelivered: boolean }[] = [];
  const early = new Map<string, number>();
  for (const { kind, id } of happenings) {
    const same = sentWith.filter((each) => each.id === id);
    const newestOpen = same.findLast(({ isDelivered }) => !isDelivered);
    if (kind === "sent") sentWith.push({ id, isDelivered: early.delete(id) });
    else if (newestOpen) newestOpen.isDelivered = true;
    else if (same.length === 0) early.set(id, 1 + (early.get(id) ?? 0));
  }
  return {
    delivered: sentWith.map(({ isDelivered }) => isDelivered),
    parked: [...early.values()].reduce((sum, count) => sum + count, 0),
  };
}

function aReusedIdMeansTheNewestOpen(open: OpenStore): void {
  const nextConnector = connectors();
  test(
    "of messages with one id a receipt without a number delivers the newest that is open, whatever came before",
    inWorld(open, async (world) => {
      const property = fc.asyncProperty(fc.array(happening, { maxLength: 14 }), async (happenings) => {
        const connectorId = nextConnector();
        const parkedBefore = await world.store.receipts.countParked();
        const ids: string[] = [];
        for (const { kind, id } of happenings) {
          world.clock.now += 1;
          if (kind === "receipt") {
            await world.receive(id, { connectorId });
            continue;
          }
          const job = await begin(world, "+919812345678");
          ids.push(job.messageId);
          await answer(world, job, { id, connectorId });
        }
        const { delivered, parked } = expected(happenings);
        const statuses = await Promise.all(ids.map((id) => world.status(id)));
        expect(statuses).toEqual(delivered.map((isDelivered) => (isDelivered ? "delivered" : "sent")));
        expect((await world.store.receipts.countParked()) - parkedBefore).toBe(parked);
      });
      await fc.assert(property, LIMITS);
    }),
    120_000,
  );
}

export function receiptOrderContract(open: OpenStore): void {
  everyReceiptFindsItsMessage(open);
  aReusedIdMeansTheNewestOpen(open);
}
