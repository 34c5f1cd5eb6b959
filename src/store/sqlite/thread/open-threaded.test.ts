import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { LARGE_BODY } from "../../../core/email/large-body.ts";
import { acceptMail } from "../../contract/messages/large-body.contract.ts";
import { createWorld, rejection } from "../../contract/world.contract.ts";
import { storeContract } from "../../store.contract.ts";
import { StoreUnavailable } from "../../store.ts";
import { createVault } from "../../vault.ts";
import {
  inFolder,
  MASTER_KEY,
  openOnSharedThread,
  openOnThread,
  threadProgram,
  VAULT,
} from "../sqlite-world.contract.ts";
import { openThreaded } from "./open-threaded.ts";

storeContract("sqlite on a thread of its own", openOnSharedThread);

test("a read waits for no commit", async () => {
  const { store } = await openOnThread({ commitMs: 200 });
  const { account, clock } = await createWorld(store);
  const order: string[] = [];
  const write = store.records.setSettings(account.id, { a: "1" }).then(() => order.push("write"));
  await new Promise((resolve) => setImmediate(resolve));
  const read = store.queue.backlog(1).then(() => order.push("read"));
  const more = store.sandbox.dueReceipts(clock.now, 1).then(() => order.push("read"));
  await Promise.all([write, read, more]);
  expect(order).toEqual(["read", "read", "write"]);
  await store.close();
});

test("a large mail is stored while others' writes are answered, also where commits are slow", async () => {
  const { store } = await openOnThread({ commitMs: 10 });
  const world = await createWorld(store);
  const order: string[] = [];
  const large = acceptMail(world, { bodyText: "x".repeat(20 * LARGE_BODY) }).then(() =>
    order.push("large mail"),
  );
  await new Promise((resolve) => setImmediate(resolve));
  for (let count = 0; count < 3; count++) await world.sms().then(() => order.push("sms"));
  await large;
  expect(order).toEqual(["sms", "sms", "sms", "large mail"]);
  await store.close();
});

test("what this thread remembers of an account is read again once a change of it is answered", async () => {
  const { store } = await openOnThread();
  const { account, id } = await createWorld(store);
  const digest = "d".repeat(64);
  await store.records.create("apiKeys", {
    id: id(),
    accountId: account.id,
    prefix: "p",
    digest,
    createdAt: 1,
  });
  expect((await store.records.findKeyOwner(digest))?.settings).toEqual({});
  await store.records.setSettings(undefined, { a: "1" });
  expect((await store.records.findKeyOwner(digest))?.settings).toEqual({ a: "1" });
  await store.records.update("accounts", account, { name: "other" });
  expect((await store.records.findKeyOwner(digest))?.account.name).toBe("other");
  await store.close();
});

test("beyond the longest line of waiting calls the store is unavailable at once", async () => {
  const { store } = await openOnThread();
  const calls = Array.from({ length: 20_001 }, () => store.queue.release([], 0));
  const results = await Promise.allSettled(calls);
  expect(results.filter((result) => result.status === "rejected")).toHaveLength(1);
  expect(results.at(-1)).toMatchObject({ status: "rejected", reason: { name: "StoreUnavailable" } });
  await store.close();
});

test("a database of another master key is refused, and the thread is gone with it", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const open = (masterKey: string) =>
      openThreaded({
        program: threadProgram(),
        setup: { path, masterKey },
        vault: createVault({ masterKey, randomBytes: (count) => new Uint8Array(count) }),
        clock: createSystemClock(),
        onLost: () => {},
      });
    await (await open(MASTER_KEY)).close();
    expect(String(await rejection(open("another key of some length")))).toContain("another master key");
    await (await open(MASTER_KEY)).close();
  }));

/** A thread that opens the database, and breaks at the first call. */
const BREAKS: Readonly<Record<string, string>> = {
  throws: "throw new Error('broken')",
  exits: "process.exit(3)",
};

for (const [how, statement] of Object.entries(BREAKS)) {
  test(`a thread that ${how} is reported once, and every call waiting or to come is unavailable`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "p.db");
      const setup = { path, masterKey: MASTER_KEY };
      const ignore = { vault: VAULT, clock: createSystemClock(), onLost: () => {} };
      await (await openThreaded({ program: threadProgram(), setup, ...ignore })).close();
      const program = join(folder, "program.ts");
      writeFileSync(
        program,
        `import { parentPort } from "node:worker_threads";
         parentPort.on("message", () => { ${statement}; });
         parentPort.postMessage({ kind: "open" });`,
      );
      const lost: Error[] = [];
      const store = await openThreaded({
        program: pathToFileURL(program),
        setup,
        vault: VAULT,
        clock: createSystemClock(),
        onLost: (error) => void lost.push(error),
      });
      const waiting = [store.queue.release([], 0), store.queue.release([], 0)];
      for (const call of waiting) expect(await rejection(call)).toBeInstanceOf(StoreUnavailable);
      expect(await rejection(store.queue.release([], 0))).toBeInstanceOf(StoreUnavailable);
      await store.close();
      expect(lost).toHaveLength(1);
    }));
}
