import { expect, test } from "bun:test";
import { join } from "node:path";
import { LARGE_BODY } from "../../../core/email/large-body.ts";
import { createWorld, DAY, rejection, sent } from "../../contract/world.contract.ts";
import { inFolder, openWithDriver } from "../sqlite-world.contract.ts";

const COUNT = "SELECT count(*) AS count FROM content_pieces";

async function start(path: string) {
  const { store, driver } = await openWithDriver(path);
  const world = await createWorld(store);
  const { account, clock, id } = world;
  const accept = (key?: string, { accountId = account.id, messageId = id() } = {}) =>
    store.intake.accept({
      accountId,
      flow: "single",
      content: {
        channel: "email",
        from: { email: "hello@acme.example" },
        to: [{ email: "ann@example.net" }],
        subject: "News",
        bodyText: "x".repeat(3 * LARGE_BODY),
      },
      messages: [
        {
          id: messageId,
          recipient: "",
          status: "queued",
          parts: [{ status: "pending", address: "ann@example.net" }],
          jobs: [{ queue: "queue-a" }],
          expiresAt: clock.now + DAY,
        },
      ],
      ...(key !== undefined && {
        idempotency: { ...world.key(key), answer: { status: 202, body: "{}" } },
      }),
    });
  const pieces = () => driver.prepare<{ count: number }>(COUNT).get()?.count;
  return { store, driver, world, accept, pieces };
}

test("a large text is kept in pieces, and they go with the body and with the message", async () => {
  const { store, world, accept, pieces } = await start(":memory:");
  await accept();
  await accept();
  expect(pieces()).toBe(12);
  const [first] = await world.claim(1);
  await world.settle(first!, { outcomes: [sent("id-1")], keepsContent: false });
  expect(pieces()).toBe(6);
  const late = world.clock.now + 30 * DAY;
  await store.retention.pruneMessages({ before: late, atLatest: late, limit: 100 });
  expect(pieces()).toBe(0);
  await store.close();
});

test("between the pieces of a large text others are written and answered", async () => {
  const { store, world, accept } = await start(":memory:");
  const order: string[] = [];
  const large = accept().then(() => order.push("large"));
  for (let n = 0; n < 3; n++) {
    await world.sms({ queue: "queue-b" });
    order.push("small");
  }
  await large;
  expect(order).toEqual(["small", "small", "small", "large"]);
  await store.close();
});

test("a request that is a repeat, or of nobody, or fails, leaves no pieces behind", async () => {
  const { store, world, accept, pieces } = await start(":memory:");
  const messageId = world.id();
  expect(await accept("k-1", { messageId })).toMatchObject({ kind: "accepted" });
  expect(await accept("k-1")).toMatchObject({ kind: "replay" });
  expect(pieces()).toBe(6);
  const nobody = "01890000-0000-7000-8000-000000000009";
  expect(await accept(undefined, { accountId: nobody })).toEqual({ kind: "no_account" });
  expect(pieces()).toBe(6);
  expect(await rejection(accept(undefined, { messageId }))).toBeInstanceOf(Error);
  expect(pieces()).toBe(6);
  await store.close();
});

test("pieces that a crash left without a content are gone after the next start, the others stay", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const { store, driver, accept } = await start(path);
    await accept();
    driver.exec("INSERT INTO content_pieces (content, field, place, text) VALUES (4711, 'bodyText', 0, 'x')");
    await store.close();
    const again = await openWithDriver(path);
    expect(again.driver.prepare<{ count: number }>(COUNT).get()?.count).toBe(6);
    await again.store.close();
  }));
