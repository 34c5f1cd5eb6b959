import { expect, test } from "bun:test";
import { join } from "node:path";
import { freshDatabase } from "../../../test/postgres-database.ts";
import { createSystemClock } from "../../cli/system-clock.ts";
import { LARGE_BODY } from "../../core/email/large-body.ts";
import type { EmailContent } from "../../core/messages/message.ts";
import { createWorld, DAY, QUEUE, SMS } from "../contract/world.contract.ts";
import { openOther } from "../postgres/postgres-world.contract.ts";
import { inFolder, openWithDriver, VAULT } from "../sqlite/sqlite-world.contract.ts";
import type { Store } from "../store.ts";
import { moveUp } from "./move-up.ts";

const clock = createSystemClock();

type Ground = Omit<Awaited<ReturnType<typeof createWorld>>, "inside">;

/** Fills an SQLite database and moves it to PostgreSQL, where `look` finds what was in it. */
function moved(
  fill: (world: Ground) => Promise<void>,
  look: (store: Store, world: Ground) => Promise<void>,
): Promise<void> {
  return inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const { url, drop } = await freshDatabase();
    const { store, driver } = await openWithDriver(path);
    const world = await createWorld(store);
    driver.exec("INSERT INTO meta (name, value) VALUES ('admin_token_digest', 'd')");
    await fill(world);
    await store.close();
    await moveUp({ path, url, vault: VAULT, onProgress: () => {}, clock });
    const target = await openOther(url, { vault: VAULT });
    try {
      await look(target, world);
    } finally {
      await target.close();
      await drop();
    }
  });
}

const LEASE_MS = 3_650 * DAY;

const claimOn = ({ queue }: Store, limit = 10) =>
  queue.claim({ queue: QUEUE, limit, now: clock.now(), leaseMs: LEASE_MS });

/** Surrogate pairs wherever it may be cut. */
const TEXT = `x${"\u{1f4e6}".repeat(LARGE_BODY)}`;
const HTML = `<p>${"ä".repeat(LARGE_BODY)}</p>`;

test("large texts that nobody has sent yet arrive whole, each in its place", () => {
  const bodies = [{ bodyText: TEXT, bodyHtml: HTML }, { bodyHtml: HTML }, { bodyText: "small" }];
  return moved(
    async ({ store, account, id, clock: { now } }) => {
      for (const body of bodies) {
        const to = [{ email: "ann@example.net" }];
        const content = {
          channel: "email",
          from: { email: "a@acme.test" },
          to,
          subject: "hi",
          ...body,
        } as const;
        const parts = [{ status: "pending", address: "ann@example.net" }] as const;
        const message = {
          id: id(),
          recipient: "",
          status: "queued",
          parts,
          jobs: [{ queue: QUEUE }],
        } as const;
        const messages = [{ ...message, expiresAt: now + DAY }];
        await store.intake.accept({ accountId: account.id, flow: "single", content, messages });
      }
    },
    async (store) => {
      const contents = (await claimOn(store)).map(({ content }) => content as EmailContent);
      expect(contents).toHaveLength(bodies.length);
      for (const [at, { bodyText, bodyHtml, isBodyApart }] of contents.entries()) {
        // PostgreSQL hands out texts with their job, and is not asked for them.
        expect(isBodyApart).toBeUndefined();
        expect(bodyText === bodies[at]?.bodyText && bodyHtml === bodies[at]?.bodyHtml).toBe(true);
      }
    },
  );
});

test("a database that a start has opened and made no account in is as good as an empty one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const { url, drop } = await freshDatabase();
    await (await openOther(url, { vault: VAULT })).close();
    const { store, driver } = await openWithDriver(path);
    await createWorld(store);
    driver.exec("INSERT INTO meta (name, value) VALUES ('admin_token_digest', 'd')");
    await store.close();
    const counted = await moveUp({ path, url, vault: VAULT, onProgress: () => {}, clock });
    expect(counted).toContainEqual({ what: "accounts", sqlite: 1, postgres: 1 });
    await drop();
  }));

test("a batch keeps its text until the last of its messages needs it no more", () =>
  moved(
    async ({ sms, claimOne, settle }) => {
      await sms({ to: ["+911", "+912"] });
      await settle(await claimOne());
    },
    async (store) => {
      const [job, ...others] = await claimOn(store);
      expect([job?.content, others]).toEqual([SMS, []]);
      expect(await store.retention.wipeContents(0, 10)).toBe(0);
      const { jobId, claim, messageId } = job!;
      const settlement = { jobId, claim, messageId, at: clock.now(), countsAsAttempt: true, outcomes: [] };
      const next = { kind: "done", end: "window_over" } as const;
      expect(await store.queue.settle([{ ...settlement, next, keepsContent: false }])).toEqual([true]);
      expect(await store.retention.wipeContents(0, 10)).toBe(1);
    },
  ));

test("what was on its way, a message or a webhook, is found at once, whatever its lease", () =>
  moved(
    async ({ store, sms, claimOne, settle, account }) => {
      await sms({ content: { callbackUrl: "https://hooks.test/hook" } });
      await settle(await claimOne());
      const lanes = [{ lane: { accountId: account.id, host: "hooks.test" }, limit: 1 }];
      expect(await store.outbox.claim({ lanes, now: clock.now(), leaseMs: LEASE_MS })).toHaveLength(1);
      await sms();
      expect(await claimOn(store)).toHaveLength(1);
    },
    async (store, { account }) => {
      expect(await store.queue.stage(clock.now() + 1, 10)).toBe(1);
      expect(await claimOn(store)).toMatchObject([{ wasInterrupted: true, claim: 2 }]);
      expect(await store.outbox.stage(clock.now() + 1, 10)).toBe(1);
      const lane = { accountId: account.id, host: "hooks.test" };
      expect(await store.outbox.readyLanes({ limit: 10 })).toEqual([lane]);
      const claim = { lanes: [{ lane, limit: 1 }], now: clock.now(), leaseMs: LEASE_MS };
      expect(await store.outbox.claim(claim)).toMatchObject([{ claim: 2, url: "https://hooks.test/hook" }]);
    },
  ));
