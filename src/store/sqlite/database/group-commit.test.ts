import { expect, test } from "bun:test";
import { join } from "node:path";
import { createWorld, type World } from "../../contract/world.contract.ts";
import { StoreUnavailable } from "../../store.ts";
import type { SqliteStore } from "../create-store.ts";
import { inFolder, openInMemory, openWithDriver } from "../sqlite-world.contract.ts";

test("calls of one turn share one commit, and are answered after it", async () => {
  let commits = 0;
  const { store } = await openInMemory({ faults: { beforeCommit: () => void commits++ } });
  const { sms } = await createWorld(store);
  const before = commits;
  await Promise.all(Array.from({ length: 64 }, () => sms()));
  expect(commits - before).toBe(1);
  await store.close();
});

test("calls that come a turn apart share one commit where as many lately came together, and one alone waits for nobody", async () => {
  let commits = 0;
  const { store } = await openInMemory({ faults: { beforeCommit: () => void commits++ } });
  const { sms, claim } = await createWorld(store);
  const some = (count: number) => Array.from({ length: count }, () => sms());
  const commitsOf = async (calls: () => Promise<readonly Promise<unknown>[]>) => {
    const before = commits;
    await Promise.all(await calls());
    return commits - before;
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  expect(await commitsOf(async () => some(64))).toBe(1);
  const aTurnApart = async () => {
    const early = some(40);
    await turn();
    return [...early, ...some(24)];
  };
  expect(await commitsOf(aTurnApart)).toBe(1);
  const before = commits;
  const beside = [...some(40), claim(0)];
  await turn();
  // Whoever claims goes on with it.
  expect(commits - before).toBe(1);
  await Promise.all(beside);
  const alone = sms();
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(await Promise.race([alone.then(() => "committed"), turn()])).toBe("committed");
  await store.close();
});

test("a receipt right behind the answer finds the settlement of the same turn, and need not be parked", async () => {
  const { store } = await openInMemory({});
  const { sms, claimOne, settle, receive } = await createWorld(store);
  const [id = ""] = await sms();
  const job = await claimOne();
  const [received] = await Promise.all([receive(`p-${id}`), settle(job)]);
  expect(received).toEqual([{ kind: "applied", messageId: id }]);
  await store.close();
});

test("work beyond the weight of one transaction goes into the next, and none of it is lost", async () => {
  let commits = 0;
  const { store } = await openInMemory({ faults: { beforeCommit: () => void commits++ } });
  const { sms, claim } = await createWorld(store);
  const before = commits;
  const to = Array.from({ length: 1_000 }, (_, index) => `+91${index}`);
  await Promise.all(Array.from({ length: 10 }, () => sms({ to })));
  expect(commits - before).toBe(3);
  expect(await claim(20_000)).toHaveLength(10_000);
  await store.close();
});

/** Calls for which no client waits, as heavy as half a transaction. */
function expiries(store: SqliteStore, count: number): readonly Promise<number>[] {
  return Array.from({ length: count }, () => store.queue.expire(0, 500));
}

test("a client waits for no more than the transaction under way, however much work for nobody waits before it", async () => {
  let commits = 0;
  const { store } = await openInMemory({ faults: { beforeCommit: () => void commits++ } });
  const { sms, account } = await createWorld(store);
  const before = commits;
  const work = Promise.all(expiries(store, 20));
  const [id = ""] = await sms();
  expect(commits - before).toBe(1);
  const message = { accountId: account.id, channel: "sms", id } as const;
  expect(await store.messages.cancel({ ...message, now: 0 })).toBe("canceled");
  expect(commits - before).toBe(2);
  await work;
  expect(commits - before).toBe(11);
  await store.close();
});

test("while clients keep calling, the work for which none waits has half of each transaction", async () => {
  let commits = 0;
  const { store } = await openInMemory({ faults: { beforeCommit: () => void commits++ } });
  const { sms } = await createWorld(store);
  const before = commits;
  const batches = Array.from({ length: 5 }, () =>
    sms({ to: Array.from({ length: 1_000 }, (_, index) => `+91${index}`) }),
  );
  const commitOf = (call: Promise<unknown>) => call.then(() => commits - before);
  const work = expiries(store, 4);
  const [ofBatches, ofWork] = [batches, work].map((calls) => Promise.all(calls.map(commitOf)));
  expect(await ofBatches).toEqual([1, 2, 3, 4, 5]);
  expect(await ofWork).toEqual([1, 2, 3, 4]);
  await store.close();
});

test("on a thread of its own the store makes longer transactions of work for which no client waits", async () => {
  let commits = 0;
  const beforeCommit = () => void commits++;
  const { store } = await openInMemory({ faults: { beforeCommit }, hasOwnThread: true });
  const before = commits;
  await Promise.all(expiries(store, 20));
  expect(commits - before).toBe(3);
  await store.close();
});

test("a commit that fails stores nothing of its group, and the next call works", async () => {
  const dial = { fails: false };
  const beforeCommit = () => {
    if (dial.fails) throw new Error("injected");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const world = await createWorld(store);
  dial.fails = true;
  await expectAllUnavailable(world);
  dial.fails = false;
  expect(await world.claim()).toEqual([]);
  await world.sms();
  expect(await world.claim()).toHaveLength(1);
  await store.close();
});

test("a full disk rejects the whole group as unavailable, and there is no need of a restart", () =>
  inFolder(async (folder) => {
    const { store, driver } = await openWithDriver(join(folder, "p.db"));
    const world = await createWorld(store);
    const pages = driver.prepare<{ page_count: number }>("PRAGMA page_count").get()?.page_count ?? 0;
    driver.exec(`PRAGMA max_page_count = ${pages}`);
    for (let i = 0; i < 3; i++) await expectAllUnavailable(world, "x".repeat(50_000));
    expect(await world.claim()).toEqual([]);
    expect(driver.isInTransaction()).toBe(false);
    driver.exec("PRAGMA max_page_count = 1000000");
    const [id = ""] = await world.sms();
    expect(await world.status(id)).toBe("queued");
    await store.close();
  }));

test("a database that cannot be written is unavailable, and works again when it can", async () => {
  const { store, driver } = await openInMemory();
  const world = await createWorld(store);
  driver.exec("PRAGMA query_only = ON");
  await expectAllUnavailable(world);
  await store.ping();
  driver.exec("PRAGMA query_only = OFF");
  await world.sms();
  expect(await world.claim()).toHaveLength(1);
  await store.close();
});

test("what a failed transaction made up in memory is forgotten with it", async () => {
  const dial = { fails: false };
  const beforeCommit = () => {
    if (dial.fails) throw new Error("injected");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const world = await createWorld(store);
  dial.fails = true;
  await expect(world.sms({ queue: "new" })).rejects.toBeInstanceOf(StoreUnavailable);
  const together = [store.records.setSettings(undefined, { a: "1" }), world.sms({ queue: "new" })];
  for (const { status } of await Promise.allSettled(together)) expect(status).toBe("rejected");
  dial.fails = false;
  await world.sms({ queue: "other" });
  await world.sms({ queue: "new" });
  expect((await world.claim(10, "new")).map((job) => job.settings)).toEqual([{}]);
  expect(await world.claim(10, "other")).toHaveLength(1);
  expect(await store.records.remove("accounts", world.account.id)).toBe("in_use");
  await store.close();
});

test("what comes while a commit is under way goes into the next, and no later one overtakes it", async () => {
  const order: string[] = [];
  let onCommit = () => {};
  const beforeCommit = () => {
    order.push("commit");
    onCommit();
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const { sms } = await createWorld(store);
  order.length = 0;
  const second = new Promise<void>((resolve) => {
    onCommit = () => {
      onCommit = () => {};
      resolve(sms().then(() => void order.push("second")));
    };
  });
  await sms().then(() => order.push("first"));
  await second;
  expect(order).toEqual(["commit", "first", "commit", "second"]);
  await store.close();
});

test("beyond the longest line of waiting calls the store is unavailable at once", async () => {
  const { store } = await openInMemory();
  const calls = Array.from({ length: 20_001 }, () => store.queue.release([], 0));
  const results = await Promise.allSettled(calls);
  expect(results.filter((result) => result.status === "rejected")).toHaveLength(1);
  expect(results.at(-1)).toMatchObject({ status: "rejected", reason: { name: "StoreUnavailable" } });
  await store.close();
});

async function expectAllUnavailable({ sms }: Pick<World, "sms">, text = "x"): Promise<void> {
  const results = await Promise.allSettled([sms({ content: { text } }), sms({ content: { text } })]);
  for (const result of results) {
    expect(result.status).toBe("rejected");
    if (result.status === "rejected") expect(result.reason).toBeInstanceOf(StoreUnavailable);
  }
}
