import { expect, test } from "bun:test";
import type { Part } from "../../../core/messages/message.ts";
import type { PartOutcome, Receipt } from "../../../core/messages/outcome.ts";
import type { Suppression } from "../../../core/records/accounts.ts";
import { DAY, deferred, inWorld, type OpenStore, QUEUE, sent, type World } from "../world.contract.ts";

const ANN = "Ann@Example.org";

function rejected(code: string, message = "no such user"): PartOutcome {
  return { kind: "rejected", bounced: true, error: { code, message } };
}

/** An email to Ann (and Bob), sent. */
async function sentEmail({ email, claimOne, settle }: World, outcome = sent(), to = [ANN]): Promise<string> {
  const parts: Part[] = to.map((address) => ({ status: "pending", address }));
  const id = await email({ parts, jobs: [{ queue: QUEUE }] });
  await settle(await claimOne(), { outcomes: to.map(() => outcome) });
  return id;
}

async function suppressed({ store, account, clock }: World, ...emails: string[]) {
  return store.suppressions.find(account.id, emails, clock.now);
}

function word({ receive }: World, messageId: string, over: Partial<Receipt>) {
  return receive("", { target: { messageId, part: 0 }, status: "bounced", ...over });
}

const DELIVERIES = {
  "a report": async (world: World) => word(world, await sentEmail(world), { status: "delivered" }),
  "the recipient's own host": (world: World) =>
    sentEmail(world, { kind: "sent", providerMessageIds: [], delivered: true }),
};

export function suppressionContract(open: OpenStore): void {
  targetContract(open);
  learningContract(open);

  test(
    "of two entries for an address the one that lasts longer stays, and the first of two alike",
    inWorld(open, async ({ store, account, clock, id }) => {
      const entry = (over: Partial<Suppression>): Suppression => ({
        id: id(),
        accountId: account.id,
        email: "ann@example.org",
        reason: "manual",
        createdAt: clock.now,
        ...over,
      });
      const add = (over: Partial<Suppression>) => store.suppressions.add([entry(over)]);
      const reason = async () =>
        (await store.suppressions.find(account.id, ["ann@example.org"], clock.now))[0]?.reason;
      expect(await add({ expiresAt: clock.now + 2 * DAY, reason: "soft_bounce" })).toBe(1);
      expect(await add({ expiresAt: clock.now + DAY, reason: "hard_bounce" })).toBe(0);
      expect(await add({ expiresAt: clock.now + 2 * DAY, reason: "hard_bounce" })).toBe(0);
      expect(await reason()).toBe("soft_bounce");
      expect(await add({ reason: "complaint" })).toBe(1);
      expect(await add({ reason: "manual" })).toBe(0);
      expect(await reason()).toBe("complaint");
    }),
  );

  test(
    "of several entries for one address, in any spelling, the one that lasts longest is added, and counts once",
    inWorld(open, async ({ store, account, clock, id }) => {
      const entry = (email: string, over: Partial<Suppression> = {}): Suppression => {
        const shared = { id: id(), accountId: account.id, createdAt: clock.now };
        return { ...shared, email, reason: "manual", ...over };
      };
      const short = entry("Ann@bücher.example", { expiresAt: clock.now + DAY });
      const other = entry("bob@example.org");
      const long = entry("ann@xn--bcher-kva.example", { reason: "complaint" });
      expect(await store.suppressions.add([short, other, long, entry("ann@bücher.example")])).toBe(2);
      const listed = await store.records.list("suppressions", { accountId: account.id }, { limit: 10 });
      expect(listed.map(({ id, reason }) => ({ id, reason }))).toEqual([
        { id: other.id, reason: "manual" },
        { id: long.id, reason: "complaint" },
      ]);
      expect(
        await store.suppressions.add([
          { ...short, id: id() },
          { ...long, id: id() },
        ]),
      ).toBe(0);
    }),
  );

  test(
    "a suppression ends by itself, and upkeep removes it",
    inWorld(open, async (world) => {
      const { store, account, clock, id } = world;
      const [email, expiresAt] = ["ann@example.org", clock.now + DAY];
      await store.suppressions.add([
        { id: id(), accountId: account.id, email, reason: "manual", expiresAt, createdAt: clock.now },
      ]);
      expect(await suppressed(world, email)).toEqual([{ email, reason: "manual" }]);
      clock.now += DAY;
      expect(await suppressed(world, email)).toEqual([]);
      expect(await store.retention.pruneSuppressions(clock.now, 10)).toBe(1);
      expect(await store.records.find("suppressions", { accountId: account.id, email })).toBeUndefined();
    }),
  );

  test(
    "of a list with an account that does not exist nothing is added",
    inWorld(open, async (world) => {
      const { store, account, clock, id } = world;
      const entry = { email: "ann@example.org", reason: "manual", createdAt: clock.now } as const;
      const added = await store.suppressions.add([
        { ...entry, id: id(), accountId: account.id },
        { ...entry, id: id(), accountId: id() },
      ]);
      expect(added).toBeUndefined();
      expect(await suppressed(world, "ann@example.org")).toEqual([]);
    }),
  );
}

function targetContract(open: OpenStore): void {
  test(
    "a receipt that names message and part is applied without an id, also to what another connector sent",
    inWorld(open, async (world) => {
      const id = await sentEmail(world, sent(), [ANN, "bob@example.org"]);
      const target = { messageId: id, part: 1 };
      const results = await world.receive("", { target, connectorId: "return-path", status: "bounced" });
      expect(results).toEqual([{ kind: "applied", messageId: id }]);
      const { progress } = await world.message(id, "email");
      expect(progress.parts.map(({ status }) => status)).toEqual(["sent", "bounced"]);
    }),
  );

  test(
    "a receipt that names a message and a recipient moves that recipient, in whatever case it is written",
    inWorld(open, async (world) => {
      const id = await sentEmail(world, sent(), [ANN, "bob@example.org"]);
      await world.receive("", {
        target: { messageId: id },
        recipient: "ANN@example.org",
        status: "delivered",
      });
      const { progress } = await world.message(id, "email");
      expect(progress.parts.map(({ status }) => status)).toEqual(["delivered", "sent"]);
    }),
  );

  test(
    "a receipt for a message, part or recipient that is not there is unknown, and is not kept",
    inWorld(open, async (world) => {
      const id = await sentEmail(world);
      const kinds = [
        await word(world, world.id(), {}),
        await word(world, "no id", { target: { messageId: "no id", part: 0 } }),
        await word(world, id, { target: { messageId: id, part: 7 } }),
        await word(world, id, { target: { messageId: id }, recipient: "eve@example.org" }),
        await word(world, id, { target: { messageId: id } }),
      ].map(([result]) => result?.kind);
      expect(kinds).toEqual(["unknown", "unknown", "unknown", "unknown", "unknown"]);
      expect(await world.store.receipts.countParked()).toBe(0);
      expect(await world.status(id, "email")).toBe("sent");
    }),
  );

  test(
    "a complaint stands on the timeline, moves nothing, and suppresses",
    inWorld(open, async (world) => {
      const id = await sentEmail(world);
      await word(world, id, { status: "delivered" });
      await word(world, id, { status: "complained", suppress: "complaint" });
      expect(await world.status(id, "email")).toBe("delivered");
      expect((await world.history(id, "email")).at(-1)).toBe("receipt:delivered");
      expect(await suppressed(world, "ann@example.org")).toMatchObject([{ reason: "complaint" }]);
    }),
  );
}

function learningContract(open: OpenStore): void {
  test(
    "a bounce that says the address does not exist suppresses it in the same transaction, with the message as its source, but none that leads there",
    inWorld(open, async (world) => {
      const hard = { suppress: "hard_bounce", error: { code: "5.1.1", message: "no such user" } } as const;
      await word(world, await sentEmail(world), { ...hard, recipient: "bob@example.net" });
      expect(await suppressed(world, "ann@example.org")).toEqual([]);
      const id = await sentEmail(world);
      await word(world, id, { ...hard, recipient: "ANN@example.org" });
      expect(await world.store.records.find("suppressions", { accountId: world.account.id })).toMatchObject({
        email: "ann@example.org",
        reason: "hard_bounce",
        source: id,
      });
    }),
  );

  test(
    "a recipient refused for good while sending is suppressed; a refused message or policy suppresses nobody",
    inWorld(open, async (world) => {
      await sentEmail(world, rejected("5.7.1", "policy"), ["bob@example.org"]);
      await sentEmail(world, rejected("smtp.550", "550 relaying denied"), ["cid@example.org"]);
      await sentEmail(world, { kind: "rejected", error: { code: "5.1.1", message: "at DATA" } }, [
        "dan@example.org",
      ]);
      await sentEmail(world, rejected("5.1.1"));
      const names = ["ann", "bob", "cid", "dan"].map((name) => `${name}@example.org`);
      expect(await suppressed(world, ...names)).toEqual([
        { email: "ann@example.org", reason: "hard_bounce" },
      ]);
    }),
  );

  test(
    "soft bounces suppress on the third day, for 30 days; several on one day count once",
    inWorld(open, async (world) => {
      const bounce = async () => word(world, await sentEmail(world), { suppress: "soft_bounce" });
      await bounce();
      await bounce();
      world.clock.now += DAY;
      await bounce();
      expect(await suppressed(world, "ann@example.org")).toEqual([]);
      // The longest time over which they are remembered.
      world.clock.now += 30 * DAY;
      await world.store.retention.pruneSuppressions(world.clock.now, 10);
      await bounce();
      expect(await suppressed(world, "ann@example.org")).toMatchObject([{ reason: "soft_bounce" }]);
      world.clock.now += 30 * DAY;
      expect(await suppressed(world, "ann@example.org")).toEqual([]);
    }),
  );

  for (const [code, reason] of [["4.2.2", "soft_bounce"] as const, ["4.4.1", undefined] as const])
    test(
      `put off with ${code} until its window ends, a recipient has bounced softly, unless no server was reached`,
      inWorld(open, async (world) => {
        const { store, clock, email, claimOne, settle } = world;
        for (let day = 0; day < 3; day++) {
          expect(await suppressed(world, "ann@example.org")).toEqual([]);
          await email({ parts: [{ status: "pending", address: ANN }], jobs: [{ queue: QUEUE }] });
          const next = { kind: "again", dueAt: clock.now } as const;
          await settle(await claimOne(), { outcomes: [deferred(code)], next });
          await store.queue.stage(clock.now, 10);
          clock.now += DAY;
          expect(await store.queue.expire(clock.now, 10)).toBe(1);
        }
        const [found] = await suppressed(world, "ann@example.org");
        expect(found?.reason).toBe(reason);
      }),
    );

  test(
    "who has bounced is learned once, though the email is tried again for others on later days",
    inWorld(open, async (world) => {
      const { store, account, clock, email, claimOne, settle } = world;
      await store.records.setSettings(account.id, { hard_bounce_suppression_days: "7" });
      const parts = [ANN, "bob@example.org"].map((address) => ({ status: "pending", address }) as const);
      const id = await email({ parts, jobs: [{ queue: QUEUE }] });
      const first = clock.now;
      const error = { code: "4.2.2", message: "mailbox full" };
      const put = { kind: "deferred", error } as const;
      const outcomes = [rejected("5.1.1"), put] as const;
      await settle(await claimOne(), { outcomes, next: { kind: "again", dueAt: clock.now } });
      clock.now += DAY;
      await store.queue.stage(clock.now, 10);
      await settle(await claimOne(), {
        outcomes: [undefined, put],
        next: { kind: "again", dueAt: clock.now },
      });
      await store.queue.stage(clock.now, 10);
      await settle(await claimOne(), { outcomes: [undefined, sent()] });
      expect(
        await store.records.list("suppressions", { accountId: account.id }, { limit: 10 }),
      ).toMatchObject([{ email: "ann@example.org", source: id, expiresAt: first + 7 * DAY }]);
    }),
  );

  for (const [by, deliver] of Object.entries(DELIVERIES))
    test(
      `a delivery in between makes soft bounces begin anew, told by ${by}`,
      inWorld(open, async (world) => {
        const bounce = async () => word(world, await sentEmail(world), { suppress: "soft_bounce" });
        for (const happen of [bounce, bounce, deliver, bounce]) {
          await happen(world);
          world.clock.now += DAY;
        }
        expect(await suppressed(world, "ann@example.org")).toEqual([]);
      }),
    );

  test(
    "how long a hard bounce suppresses is a setting; a sandbox account learns nothing",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await store.records.setSettings(account.id, { hard_bounce_suppression_days: "7" });
      await sentEmail(world, rejected("5.1.1"));
      expect(await store.records.find("suppressions", { accountId: account.id })).toMatchObject({
        expiresAt: clock.now + 7 * DAY,
      });
      await store.records.update("accounts", account, { mode: "sandbox" });
      await sentEmail(world, rejected("5.1.1"), ["bob@example.org"]);
      expect(await suppressed(world, "bob@example.org")).toEqual([]);
    }),
  );
}
