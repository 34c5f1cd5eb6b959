/** Erasures beside other processes, each held in the middle of its transaction, and what they leave in the tables. */
import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import { DAY, HOUR, QUEUE, SMS, sent } from "../../contract/world.contract.ts";
import { type Connection, openDriver } from "../database/driver.ts";
import { type Ground, type Race, race, waiting } from "../database/race.contract.ts";

/** What the handset writes. */
function stop({ account, id, clock }: Race): InboundPiece {
  return {
    id: id(),
    connectorId: "c",
    accountId: account.id,
    from: HANDSET,
    to: "12345",
    text: "STOP",
    encoding: "gsm7",
    segments: 1,
    receivedAt: clock.now,
    key: id(),
    sameSince: clock.now - DAY,
  };
}

const HANDSET = "+919800000001";
const OTHER = "+919800000002";
const ADDRESS = "asha@x.test";

async function ask({ store, id, clock }: Ground, recipient: string, accountId?: string): Promise<void> {
  const record = { id: id(), recipient, salt: "s", digest: "d", createdAt: clock.now };
  await store.erasures.create({ ...record, ...(accountId !== undefined && { accountId }) });
}

async function work({ store, clock }: Ground): Promise<void> {
  while ((await store.erasures.advance(clock.now, 100)) > 0);
}

function stranger<T>({ url }: Race, run: (connection: Connection) => Promise<T>): Promise<T> {
  const driver = openDriver({ url, connections: 1 });
  return driver.hold(run).finally(driver.close);
}

test("a message that is being erased is claimed by nobody", () =>
  race(async (world) => {
    const { other, clock } = world;
    await world.sms({ to: [HANDSET] });
    await ask(world, HANDSET);
    const claim = { queue: QUEUE, limit: 5, now: clock.now, leaseMs: HOUR };
    let working: Promise<void> | undefined;
    await world.whileHeld("sandbox_messages", async (isWaiting) => {
      working = work(world);
      await isWaiting(1);
      expect(await other.queue.claim(claim)).toEqual([]);
    });
    await working;
    expect(await other.queue.claim(claim)).toEqual([]);
  }));

test("a webhook that names a recipient who is being erased is claimed by nobody until it names them no more", () =>
  race(async (world) => {
    const { other, account, clock } = world;
    const parts = [ADDRESS, "ravi@x.test"].map((address) => ({ status: "pending", address }) as const);
    await world.email({ parts, jobs: [{ queue: QUEUE }], callbackUrl: "https://hooks.test/" });
    await world.settle(await world.claimOne(), { outcomes: [sent("p-1"), sent("p-2")] });
    await ask(world, ADDRESS);
    const lanes = [{ lane: { accountId: account.id, host: "hooks.test" }, limit: 1 }];
    const claim = () => other.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
    let working: Promise<void> | undefined;
    await world.whileHeld("contents", async (isWaiting) => {
      working = work(world);
      await isWaiting(1);
      expect(await claim()).toEqual([]);
    });
    await working;
    const [webhook] = await claim();
    expect(webhook?.body).toContain("email.sent");
    expect(webhook?.body).not.toContain(ADDRESS);
  }));

test("of a batch whose last two messages are erased at the same time by two processes nothing is left", () =>
  race(async (world) => {
    const { store, other } = world;
    await world.sms({ to: [HANDSET, OTHER] });
    for (const recipient of [HANDSET, OTHER]) await ask(world, recipient);
    const workers: Promise<void>[] = [];
    await world.whileHeld("contents", async (isWaiting) => {
      workers.push(work(world));
      await isWaiting(1);
      workers.push(work({ ...world, store: other }));
      await isWaiting(2);
    });
    await Promise.all(workers);
    await work({ ...world, store });
    expect(await stranger(world, (connection) => connection.query("SELECT id FROM contents"))).toEqual([]);
  }));

test(
  "while a process is at work on one erasure, another goes on with the next",
  () =>
    race(async (world) => {
      const { other, clock } = world;
      await ask(world, HANDSET);
      await ask(world, OTHER);
      await stranger(world, async (connection) => {
        await connection.exec("BEGIN; SELECT 1 FROM erasures ORDER BY id LIMIT 1 FOR UPDATE");
        while ((await other.erasures.advance(clock.now, 100)) > 0);
        await connection.exec("COMMIT");
      });
      const completed = async () => (await other.erasures.list({ limit: 2 })).map((each) => each.completedAt);
      expect(await completed()).toEqual([undefined, clock.now]);
      await work(world);
      expect(await completed()).toEqual([clock.now, clock.now]);
    }),
  120_000,
);

test("an answer that was saved anew under the same key during an erasure stays as it is", () =>
  race(async (world) => {
    const { store, account, clock } = world;
    const message = { id: world.id(), recipient: HANDSET, status: "queued" as const, parts: [] };
    const body = `{"message_id":"${message.id}","to":"${HANDSET}"}`;
    const key = { ...world.key("k"), answer: { status: 202, body } };
    const messages = [{ ...message, expiresAt: clock.now + DAY, jobs: [{ queue: QUEUE }] }];
    const request = { accountId: account.id, flow: "single", content: SMS, messages } as const;
    await store.intake.accept({ ...request, idempotency: key });
    await ask(world, HANDSET);
    let working: Promise<void> | undefined;
    await stranger(world, async (connection) => {
      await connection.exec("BEGIN; LOCK TABLE idempotency_keys IN SHARE ROW EXCLUSIVE MODE");
      working = work(world);
      await waiting(connection, 1);
      await connection.exec("UPDATE idempotency_keys SET body = 'anew', taken_at = taken_at + 1; COMMIT");
    });
    await working;
    expect(await store.intake.savedAnswer(key)).toMatchObject({ body: "anew" });
  }));

test("an opt-out that stands there in both forms becomes one, of its own account and sender", () =>
  race(async (world) => {
    const { store, id, account, clock } = world;
    const second = await world.addAccount();
    const add = (accountId: string, sender?: string) =>
      store.records.create("optOuts", {
        id: id(),
        accountId,
        recipient: HANDSET,
        reason: "r",
        createdAt: clock.now,
        ...(sender !== undefined && { sender }),
      });
    for (const sender of [undefined, "ACME"]) await add(account.id, sender);
    await ask(world, HANDSET);
    await work(world);
    // Of a process that had not heard of the erasure yet.
    await stranger(world, (connection) =>
      connection.query(
        `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at)
         SELECT id, account_id, sender, $4, 'r', $5
         FROM unnest($1::text[], $2::text[], $3::text[]) AS t (id, account_id, sender)`,
        [
          [id(), id(), id(), id()],
          [account.id, account.id, account.id, second.id],
          [null, "ACME", "BETA", "ACME"],
          HANDSET,
          clock.now,
        ],
      ),
    );
    await ask(world, HANDSET);
    await work(world);
    const senders = async (accountId: string) =>
      (await store.records.list("optOuts", { accountId, recipient: HANDSET }, { limit: 10 })).map(
        ({ sender }) => sender,
      );
    expect((await senders(account.id)).toSorted()).toEqual(["ACME", "BETA", undefined]);
    expect(await senders(second.id)).toEqual(["ACME"]);
  }));

test("an address that bounces again while it is being erased is stored in its erased form only", () =>
  race(async (world) => {
    const { other, store, account, id, clock } = world;
    const bounce = () => [
      {
        id: id(),
        accountId: account.id,
        email: ADDRESS,
        createdAt: clock.now,
        reason: "hard_bounce" as const,
      },
    ];
    await store.suppressions.add(bounce());
    await ask(world, ADDRESS);
    const calls: Promise<unknown>[] = [];
    await stranger(world, async (connection) => {
      await connection.exec("BEGIN; SELECT 1 FROM suppressions FOR UPDATE");
      calls.push(work(world));
      await waiting(connection, 1);
      calls.push(other.suppressions.add(bounce()));
      await waiting(connection, 2);
      await connection.exec("COMMIT");
    });
    await Promise.all(calls);
    const emails = (await store.records.list("suppressions", { accountId: account.id }, { limit: 10 })).map(
      ({ email }) => email,
    );
    expect(emails).toEqual([expect.stringMatching(/^erased:/)]);
  }));

test("a recipient who opts out again while they are being erased is stored in their erased form only", () =>
  race(async (world) => {
    const { other, store, account } = world;
    await store.inbound.receive([stop(world)]);
    await ask(world, HANDSET);
    const calls: Promise<unknown>[] = [];
    await stranger(world, async (connection) => {
      await connection.exec("BEGIN; SELECT 1 FROM opt_outs FOR UPDATE");
      calls.push(work(world));
      await waiting(connection, 1);
      // Its opt-out is renamed, and it cannot commit yet.
      await world.whileHeld("erasures", async (isWaiting) => {
        await connection.exec("COMMIT");
        await isWaiting(1);
        calls.push(other.inbound.receive([stop(world)]));
        await isWaiting(2);
      });
    });
    await Promise.all(calls);
    const optOuts = await store.records.list("optOuts", { accountId: account.id }, { limit: 10 });
    expect(optOuts.map(({ recipient }) => recipient)).toEqual([expect.stringMatching(/^erased:/)]);
  }));

const MESSAGES = {
  "to a handset": async (world: Race) => {
    await world.sms({ to: [HANDSET] });
    await world.settle(await world.claimOne());
  },
  "from a handset": (world: Race) => world.store.inbound.receive([stop(world)]),
};

for (const [which, make] of Object.entries(MESSAGES)) {
  test(`the event of a message ${which} is erased with it, also if it is just being numbered`, () =>
    race(async (world) => {
      // Its first numbering goes ahead of all numbers that were given, for which it would wait before it has an event.
      await world.other.feed.numberEvents(10);
      await make(world);
      await ask(world, HANDSET);
      const calls: Promise<unknown>[] = [];
      await stranger(world, async (connection) => {
        await connection.exec("BEGIN; SELECT 1 FROM event_numbers FOR UPDATE");
        calls.push(world.other.feed.numberEvents(10));
        await waiting(connection, 1);
        calls.push(work(world));
        await waiting(connection, 2);
        await connection.exec("COMMIT");
      });
      await Promise.all(calls);
      const left = "SELECT data FROM events UNION ALL SELECT data FROM new_events";
      expect(await stranger(world, (connection) => connection.query(left))).toEqual([]);
    }));
}

test("once an erasure is done no row of it names the recipient", () =>
  race(async (world) => {
    await ask(world, HANDSET);
    await work(world);
    const rows = await stranger(world, (connection) =>
      connection.query("SELECT 1 FROM erasures WHERE strpos(erasures::text, $1) > 0", [HANDSET]),
    );
    expect(rows).toEqual([]);
  }));
