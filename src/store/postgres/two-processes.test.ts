import { expect, test } from "bun:test";
import { createSystemClock } from "../../cli/system-clock.ts";
import type { Clock } from "../../core/clock.ts";
import { createWorld, DAY, HOUR, QUEUE, type World } from "../contract/world.contract.ts";
import { type Store, StoreUnavailable } from "../store.ts";
import { openDriver } from "./database/driver.ts";
import { race } from "./database/race.contract.ts";
import { takeKeys } from "./intake/idempotency-keys.ts";
import { openFresh, openOther } from "./postgres-world.contract.ts";

/** Between two tries of a key that is held elsewhere. */
const STEP_MS = 500;

/** Accepts one SMS under a key. */
function sender({ account, clock, id, key }: Omit<World, "inside">) {
  return (by: Pick<Store, "intake">, name: string, limit: { readonly acceptBefore?: number } = {}) =>
    by.intake.accept({
      accountId: account.id,
      flow: "single",
      content: { channel: "sms", text: "hi" },
      messages: [
        {
          id: id(),
          recipient: "+919812345678",
          status: "queued",
          parts: [],
          expiresAt: clock.now + DAY,
          jobs: [{ queue: QUEUE }],
        },
      ],
      idempotency: { ...key(name), answer: { status: 202, body: name }, ...limit },
    });
}

test("of repeats of one key on two processes one is accepted, and the others replay it", async () => {
  const { store, url } = await openFresh();
  const other = await openOther(url);
  const world = await createWorld(store);
  const send = sender(world);
  const names = Array.from({ length: 40 }, (_, index) => `k${index}`);
  const results = await Promise.all([
    ...names.map((name) => send(store, name)),
    ...names.toReversed().map((name) => send(other, name)),
  ]);
  expect(results.filter(({ kind }) => kind === "accepted")).toHaveLength(40);
  expect(results.filter(({ kind }) => kind === "replay")).toHaveLength(40);
  expect(await world.claim(100)).toHaveLength(40);
  await other.close();
  await store.close();
});

test("a key that another process is taking holds up no request but those that repeat it, and these replay it", () =>
  withHeldKey(async ({ store, send, isHeld, end }) => {
    const repeat = send(store, "held");
    const others = await Promise.all(["a", "b"].map((name) => send(store, name)));
    expect(others.map(({ kind }) => kind)).toEqual(["accepted", "accepted"]);
    await isHeld;
    await end("COMMIT");
    expect(await repeat).toMatchObject({ kind: "replay", answer: { body: "theirs" } });
  }));

test("who asks for the answer under a key that another process is taking waits for it, and others do not", () =>
  withHeldKey(async ({ world, store, isHeld, end }) => {
    const asking = store.intake.savedAnswer(world.key("held"));
    expect(await store.intake.savedAnswer(world.key("free"))).toBeUndefined();
    await isHeld;
    await end("COMMIT");
    expect(await asking).toMatchObject({ body: "theirs" });
  }));

test("a key that another process lets go of has no answer, and may be taken after it was asked for", () =>
  withHeldKey(async ({ world, store, send, isHeld, end }) => {
    const asking = store.intake.savedAnswer(world.key("held"));
    await isHeld;
    await end("ROLLBACK");
    expect(await asking).toBeUndefined();
    expect(await send(store, "held")).toEqual({ kind: "accepted" });
  }));

test("of a request that comes to its key only when a repeat may have been refused, nothing is stored", () =>
  race(async (world) => {
    const { store, other } = world;
    const send = sender(world);
    let sending: Promise<unknown> | undefined;
    await world.whileHeld("accounts", async (isWaiting) => {
      sending = Promise.all([send(store, "late", { acceptBefore: Date.now() }), send(store, "beside")]);
      await isWaiting(1);
      expect(await other.intake.savedAnswer(world.key("late"))).toBeUndefined();
    });
    expect(await sending).toEqual([{ kind: "too_late" }, { kind: "accepted" }]);
    expect(await world.claim(5)).toHaveLength(1);
    const inTime = { acceptBefore: Date.now() + HOUR };
    expect(await send(other, "late", inTime)).toEqual({ kind: "accepted" });
    expect(await send(store, "late", { acceptBefore: Date.now() })).toMatchObject({ kind: "replay" });
  }));

interface HeldKey {
  readonly world: Omit<World, "inside">;
  readonly store: Store;
  readonly send: ReturnType<typeof sender>;
  /** Resolves when somebody waits for the key. */
  readonly isHeld: Promise<void>;
  /** Ends the other process's transaction. */
  end(how: "COMMIT" | "ROLLBACK"): Promise<unknown>;
}

/** Runs what is given while another process is taking the key `held`. */
async function withHeldKey(run: (held: HeldKey) => Promise<void>): Promise<void> {
  const isHeld = Promise.withResolvers<void>();
  const clock = createSystemClock();
  const after: Clock["after"] = (delayMs, then) => {
    if (delayMs === STEP_MS) isHeld.resolve();
    return clock.after(delayMs, then);
  };
  const { store, url } = await openFresh({ clock: { ...clock, after } });
  const world = await createWorld(store);
  await world.sms();
  const driver = openDriver({ url });
  await driver.hold(async (stranger) => {
    await stranger.exec("BEGIN");
    await takeKeys(stranger, [{ ...world.key("held"), answer: { status: 202, body: "theirs" } }]);
    await run({
      world,
      store,
      send: sender(world),
      isHeld: isHeld.promise,
      end: (how) => stranger.exec(how),
    });
  });
  await driver.close();
  await store.close();
}

test("what comes to two processes at once is no more than a limit lets through", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const { account, clock, id } = world;
  const other = await openOther(url);
  const accept = ({ intake }: Store, limits: Readonly<Record<string, number>>) => {
    const message = { id: id(), recipient: "+919812345678", status: "queued", parts: [] } as const;
    return intake.accept({
      accountId: account.id,
      flow: "single",
      content: { channel: "sms", text: "hi" },
      messages: [{ ...message, expiresAt: clock.now + DAY, jobs: [{ queue: QUEUE }] }],
      limited: { limits, now: clock.now, segments: 1 },
    });
  };
  // So that both have read what they keep, and begin together.
  for (const each of [store, other]) await accept(each, {});
  const limits = { daily_message_limit: 10 };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => accept(at % 2 === 0 ? store : other, limits)),
  );
  expect(answers.filter(({ kind }) => kind === "accepted")).toHaveLength(10);
  await other.close();
  await store.close();
});

test("a message that is looked up by its id is looked for in its own day alone", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  for (let day = 0; day < 3; day++) {
    await world.sms();
    world.clock.now += DAY;
  }
  const [id = ""] = await world.sms();
  const driver = openDriver({ url });
  const plan = await driver.query(
    `EXPLAIN SELECT m.id, c.envelope FROM messages m JOIN contents c ON c.id = m.content WHERE m.id = '${id}'`,
  );
  const messages = JSON.stringify(plan).match(/messages_\d{8}(?!_)/g);
  expect([...new Set(messages)]).toHaveLength(1);
  expect((await world.message(id)).id).toBe(id);
  await driver.close();
  await store.close();
});

test("a statement that takes too long and a server that is away are outages, and the next call connects anew", async () => {
  const { store, url } = await openFresh();
  const driver = openDriver({ url, statementMs: 500 });
  const slow = await driver.query("SELECT pg_sleep(60)").catch((error) => error);
  expect(slow).toBeInstanceOf(StoreUnavailable);
  const cut = await driver
    .query("SELECT pg_terminate_backend(pg_backend_pid())")
    .catch((error: unknown) => error);
  expect(cut).toBeInstanceOf(StoreUnavailable);
  expect(await driver.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await driver.close();
  const away = openDriver({ url: "postgres://nobody@127.0.0.1:1/none" });
  expect(await away.query("SELECT 1").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  await away.close();
  await store.close();
});
