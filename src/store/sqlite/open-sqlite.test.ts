import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createWorld, HOUR, QUEUE, SECOND } from "../contract/world.contract.ts";
import { storeContract } from "../store.contract.ts";
import { createVault } from "../vault.ts";
import { openSqlite } from "./open-sqlite.ts";
import { inFolder, openInMemory, openWithDriver, VAULT } from "./sqlite-world.contract.ts";

storeContract("sqlite", openInMemory);

test("the writing connection syncs every commit to disk, and enforces foreign keys", () =>
  inFolder(async (folder) => {
    const { store, driver } = await openWithDriver(join(folder, "p.db"));
    const pragma = (name: string) => Object.values(driver.prepare<object>(`PRAGMA ${name}`).get() ?? {})[0];
    expect(pragma("synchronous")).toBe(2);
    expect(pragma("journal_mode")).toBe("wal");
    expect(pragma("foreign_keys")).toBe(1);
    expect(pragma("busy_timeout")).toBeGreaterThan(0);
    await store.close();
  }));

test("what was stored is there after a restart, and the leases of the last process are dead at once", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const first = await openWithDriver(path);
    const world = await createWorld(first.store);
    const [leased = ""] = await world.sms();
    const [scheduled = ""] = await world.sms({ dueAt: world.clock.now + HOUR });
    const job = await world.claimOne();
    await first.store.close();

    const store = await openSqlite({ path, vault: VAULT });
    const { accountId } = job;
    const find = (id: string) => store.messages.find({ accountId, channel: "sms", id });
    expect(await store.queue.stage(world.clock.now + SECOND, 10)).toBe(1);
    expect((await find(leased))?.progress.status).toBe("queued");
    expect((await find(scheduled))?.progress.status).toBe("scheduled");
    const backlog = await store.queue.backlog(10);
    expect(backlog).toEqual([{ queue: QUEUE, ready: 1, oldestReadySince: world.clock.now + SECOND }]);
    const claim = { queue: QUEUE, limit: 10, now: world.clock.now, leaseMs: SECOND };
    expect(await store.queue.claim(claim)).toMatchObject([
      { messageId: leased, claim: 2, wasInterrupted: true },
    ]);
    await store.close();
  }));

test("a store that is closed leaves one whole file behind, and nothing holds it", () =>
  inFolder(async (folder) => {
    const { store } = await openWithDriver(join(folder, "p.db"));
    await (await createWorld(store)).sms();
    await store.close();
    expect(readdirSync(folder)).toEqual(["p.db"]);
  }));

test("a job's number is never used again while the process lives", async () => {
  const { store } = await openInMemory();
  const { sms, claimOne, settle } = await createWorld(store);
  await sms();
  const first = await claimOne();
  await settle(first);
  await sms();
  expect((await claimOne()).jobId).toBeGreaterThan(first.jobId);
  await store.close();
});

test("a database that was written under another master key is refused", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    await (await openSqlite({ path, vault: VAULT })).close();
    const other = createVault({ masterKey: "another key of some length", randomBytes });
    await expect(openSqlite({ path, vault: other })).rejects.toThrow("another master key");
    await (await openSqlite({ path, vault: VAULT })).close();
  }));

test("no secret is stored in the clear, nor longer than it is valid", async () => {
  const { store, driver } = await openInMemory();
  const { id, account, clock } = await createWorld(store);
  const secrets = { password: "open sesame" };
  const connector = { id: id(), name: "c", kind: "smpp", config: {}, secrets, isEnabled: true, createdAt: 1 };
  await store.records.create("connectors", connector);
  for (let i = 0; i < 3; i++) {
    const secret = { secret: `whsec_sesame${i}`, createdAt: clock.now };
    await store.records.addWebhookSecret(account.id, secret);
  }
  expect(driver.prepare("SELECT 1 FROM webhook_secrets").all()).toHaveLength(2);
  const stored = JSON.stringify([
    driver.prepare("SELECT * FROM connectors").all(),
    driver.prepare("SELECT * FROM webhook_secrets").all(),
  ]);
  expect(stored).not.toContain("sesame");
  await store.close();
});
