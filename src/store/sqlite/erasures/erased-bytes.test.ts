/** What is left of somebody in the database's own files, byte by byte, once they were erased. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createWorld, DAY, type World } from "../../contract/world.contract.ts";
import { copyDatabase } from "../backup.ts";
import type { Driver } from "../database/driver.ts";
import { inFolder, openWithDriver } from "../sqlite-world.contract.ts";

const NUMBER = "+919812345678";
const ADDRESS = "asha.rao@mail.test";
const SECRETS = ["9812345678", "asha.rao"];

type Ground = Omit<World, "inside">;

test("after the erasure of a full life no file of the database holds the number or the address", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "life.db");
    const { store, driver } = await openWithDriver(path);
    const world = await createWorld(store);
    await live(world, driver);
    expect(found(path)).toEqual(SECRETS);
    await erase(world);
    expect(found(path)).toEqual([]);
    await store.close();
    expect(found(path)).toEqual([]);
  });
});

test("a backup holds nothing of whoever was erased before, also where rows had been moved about", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "busy.db");
    const { store, driver } = await openWithDriver(path);
    driver.exec("PRAGMA synchronous = OFF");
    const world = await createWorld(store);
    await manyLives(world);
    const before = occurrences(path);
    await erase(world);
    // SQLite leaves a copy in the gap of a page now and then, where it has moved rows between pages.
    expect(occurrences(path)).toBeLessThan(before / 50);
    copyDatabase(path, join(folder, "backup.db"));
    expect(found(join(folder, "backup.db"))).toEqual([]);
    await store.close();
  });
});

/** Everything that can become of one recipient, and others beside them. */
async function live(world: Ground, driver: Driver): Promise<void> {
  const { store, account, id, clock, sms, claim, settle, receive } = world;
  await store.records.setSettings(account.id, { inbound_url: "https://acme.test/in" });
  await store.records.create("inboundNumbers", {
    id: id(),
    accountId: account.id,
    number: "+14155550123",
    createdAt: 1,
  });
  const answer = (to: string) => ({
    status: 202,
    body: `{"message_id":"${id()}","status":"queued","to":"${to}"}`,
  });
  await sms({ to: [NUMBER, "+919800000000"], idempotency: { ...world.key("k"), answer: answer(NUMBER) } });
  for (const job of await claim()) await settle(job);
  await receive("nobody's", { recipient: NUMBER.slice(1) });
  await write(world, { text: "hello" });
  await write(world, { text: "STOP" });
  await write(world, { text: "half", part: { reference: 1, total: 2, number: 1 } });
  for (const to of [[ADDRESS], ["Asha.Rao@mail.test", "ravi@mail.test"]]) await mail(world, to);
  await longMail(world);
  const entry = { accountId: account.id, email: ADDRESS, reason: "manual", createdAt: clock.now } as const;
  await store.suppressions.add([{ ...entry, id: id(), source: `${ADDRESS} wrote` }]);
  const play = { accountId: account.id, messageId: id(), receivedAt: clock.now } as const;
  await store.sandbox.record([
    { ...play, id: id(), channel: "sms", to: NUMBER, rendered: { text: "hi" } },
    { ...play, id: id(), channel: "email", to: ADDRESS, rendered: { source: `To: ${ADDRESS}` } },
  ]);
  for (const externalId of [NUMBER, ADDRESS])
    await store.records.create("contacts", {
      id: id(),
      accountId: account.id,
      externalId,
      createdAt: clock.now,
    });
  driver.prepare("INSERT INTO sms_usage VALUES (1, ?, 1, 1, 1)").run(NUMBER);
  await attemptWebhooks(world, driver);
}

/** Bounced softly, so that it is counted, with the address in the words of the other side. */
async function mail(world: Ground, addresses: readonly string[]): Promise<void> {
  const parts = addresses.map((address) => ({ status: "pending", address }) as const);
  await world.email({ parts, jobs: [{ queue: "mail" }] });
  const [job] = await world.claim(1, "mail");
  const error = { code: "4.2.2", message: `<${ADDRESS}>: mailbox full` };
  const outcomes = parts.map(() => ({ kind: "rejected", bounced: true, error }) as const);
  await world.settle(job!, { outcomes });
}

/** A body that fills pages of its own, and is wiped when the mail has been sent. */
async function longMail({ store, account, id, clock, claim, settle }: Ground): Promise<void> {
  const parts = [{ status: "pending", address: ADDRESS }] as const;
  const message = { id: id(), recipient: "", status: "queued", parts, jobs: [{ queue: "mail" }] } as const;
  const bodyText = `Dear ${ADDRESS}, `.repeat(2_000);
  await store.intake.accept({
    accountId: account.id,
    flow: "single",
    content: {
      channel: "email",
      from: { email: "a@acme.test" },
      to: [{ email: ADDRESS }],
      subject: "hi",
      bodyText,
    },
    messages: [{ ...message, expiresAt: clock.now + DAY }],
  });
  for (const job of await claim(1, "mail")) await settle(job);
}

/** Receivers say things back. */
async function attemptWebhooks({ store, clock }: Ground, driver: Driver): Promise<void> {
  const lanes = await store.outbox.readyLanes({ limit: 10 });
  const claimed = await store.outbox.claim({
    lanes: lanes.map((lane) => ({ lane, limit: 10 })),
    now: clock.now,
    leaseMs: 1_000,
  });
  expect(claimed.length).toBeGreaterThan(0);
  const attempt = { at: clock.now, ms: 5, status: 500, head: `thanks for ${NUMBER} and ${ADDRESS}` };
  const verdict = { kind: "again", dueAt: clock.now + DAY } as const;
  for (const { id, messageId, claim } of claimed)
    await store.outbox.settle([{ id, messageId, claim, verdict, attempt } as never]);
  expect(driver.prepare("SELECT 1 FROM webhook_attempts").all().length).toBe(claimed.length);
}

function write(
  { store, id, clock }: Ground,
  over: { text: string; part?: { reference: number; total: number; number: number } },
) {
  const newId = id();
  const piece = { id: newId, key: newId, connectorId: "c", from: NUMBER, to: "+14155550123", segments: 1 };
  const times = { receivedAt: clock.now, sameSince: clock.now - DAY };
  return store.inbound.receive([{ ...piece, ...times, encoding: "gsm7", ...over }]);
}

/** Pages split and merge, rows grow, and the oldest are pruned. */
async function manyLives(world: Ground): Promise<void> {
  const { store, clock, sms, claim, settle, receive } = world;
  for (let round = 0; round < 40; round++) {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        sms({ to: [index % 3 ? `+9198000${10_000 + index}` : NUMBER] }),
      ),
    );
    for (const job of await claim(50)) {
      await settle(job);
      if (job.jobId % 2 === 0) await receive(`p-${job.messageId}`, { recipient: job.recipient });
    }
    clock.now += 60_000;
    const before = clock.now - 900_000;
    await store.retention.pruneMessages({ before, atLatest: before, limit: 60 });
  }
}

async function erase({ store, clock, id }: Ground): Promise<void> {
  for (const recipient of [NUMBER, ADDRESS])
    await store.erasures.create({ id: id(), recipient, salt: "s", digest: "d", createdAt: clock.now });
  while ((await store.erasures.advance(clock.now, 200)) > 0);
}

/** Those of the secrets that a file of the database holds. */
function found(path: string): readonly string[] {
  const files = [path, `${path}-wal`]
    .filter(existsSync)
    .map((file) => readFileSync(file, "latin1").toLowerCase());
  return SECRETS.filter((secret) => files.some((octets) => octets.includes(secret)));
}

function occurrences(path: string): number {
  const octets = readFileSync(path, "latin1") + readFileSync(`${path}-wal`, "latin1");
  return octets.split(NUMBER).length - 1;
}
