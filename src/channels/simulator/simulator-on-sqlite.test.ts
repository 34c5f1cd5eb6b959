import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { email, idOf, never, sms } from "../../../test/fakes/open-simulator.ts";
import type { ChannelName } from "../../core/messages/message.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { openSqlite } from "../../store/sqlite/open-sqlite.ts";
import type { Store } from "../../store/store.ts";
import { createVault } from "../../store/vault.ts";
import { createSimulator } from "./simulator.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "simulator-"));
});
const vault = createVault({ masterKey: randomBytes(32), randomBytes });
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open() {
  const store = await openSqlite({ path: join(folder, "test.db"), vault });
  opened.push(store);
  return store;
}

/** A simulator over the store, and a promise of so many stored receipts. */
function simulate(channel: ChannelName, store: Store, clock: ReturnType<typeof createHeldClock>) {
  const receipts: Receipt[] = [];
  let whenStored = () => {};
  const simulator = createSimulator({
    channel,
    connectorId: `simulator-${channel}`,
    ledger: store.sandbox,
    clock,
    random: Math.random,
    log: { info() {}, warn() {}, debug() {} },
    onSlots() {},
    onStatus() {},
    async onReceipts(batch) {
      await store.receipts.record(batch);
      receipts.push(...batch);
      whenStored();
    },
  });
  simulator.start();
  const stored = (count: number) =>
    new Promise<readonly Receipt[]>((resolve) => {
      whenStored = () => {
        if (receipts.length >= count) resolve(receipts);
      };
      whenStored();
    });
  return { simulator, receipts, stored };
}

test("what was sent before a restart is in the list, and its receipts come once, after it", async () => {
  const clock = createHeldClock();
  const first = await open();
  const before = simulate("sms", first, clock);
  const taken = await Promise.all(
    ["+919812345678", "+15005550001"].map((to) => before.simulator.send(sms(to), never)),
  );
  await before.simulator.stop();
  await first.close();
  await clock.advance(60_000);

  const second = await open();
  const after = simulate("sms", second, clock);
  const stored = after.stored(2);
  await clock.advance(1);
  expect((await stored).map(({ providerMessageId, status }) => [providerMessageId, status]).sort()).toEqual(
    [
      [idOf(taken[0]?.parts[0]), "delivered"],
      [idOf(taken[1]?.parts[0]), "undelivered"],
    ].sort(),
  );
  expect(before.receipts).toEqual([]);
  expect(await second.sandbox.nextReceiptAt()).toBeUndefined();
  const listed = await second.sandbox.list({ limit: 10, to: "+15005550001" });
  expect(listed).toMatchObject([{ rendered: { text: "Your code is 4711", segments: 1, encoding: "gsm7" } }]);
  await after.simulator.stop();
});

test("an email is listed for each recipient, with its source", async () => {
  const clock = createHeldClock();
  const store = await open();
  const { simulator } = simulate("email", store, clock);
  const message = email(["ann@example.com", "bob@example.com"]);
  await simulator.send(message, never);
  const listed = await store.sandbox.list({ messageId: message.messageId, limit: 10 });
  expect(listed.map(({ to }) => to)).toEqual(["ann@example.com", "bob@example.com"]);
  expect(String(listed[1]?.rendered.source)).toContain("Subject: Your order\r\n");
  await simulator.stop();
});
