import { expect, test } from "bun:test";
import type { Content, Part } from "../../../core/messages/message.ts";
import { DAY, inWorld, type OpenStore, QUEUE, rejection, SMS } from "../world.contract.ts";

export function acceptContract(open: OpenStore): void {
  test(
    "an accepted message is found as it was asked for, without its text",
    inWorld(open, async ({ store, account, clock, sms }) => {
      const [id = ""] = await sms({ content: { metadata: { order: "7", nested: { a: [1, null] } } } });
      const { text: _, ...shown } = SMS as Extract<Content, { channel: "sms" }>;
      expect(await store.messages.find({ accountId: account.id, channel: "sms", id })).toEqual({
        id,
        accountId: account.id,
        recipient: "+919812345678",
        progress: { channel: "sms", status: "queued", parts: [], sequence: 0, position: 0 },
        content: { ...shown, metadata: { order: "7", nested: { a: [1, null] } } },
        createdAt: clock.now,
      });
    }),
  );

  test(
    "an email is found with its recipients and without its bodies, headers and reply address",
    inWorld(open, async ({ store, account, id, clock }) => {
      const parts: Part[] = [{ status: "pending", address: "a@b.test" }];
      const messageId = id();
      const shown = {
        channel: "email",
        from: { email: "a@acme.test", name: "Acmé" },
        to: [{ email: "a@b.test" }],
        subject: "Grüße",
        metadata: { a: 1 },
      } as const;
      await store.intake.accept({
        accountId: account.id,
        flow: "single",
        content: {
          ...shown,
          bodyHtml: "<p>",
          bodyText: "t",
          headers: { "X-A": "1" },
          replyTo: "r@acme.test",
        },
        messages: [
          {
            id: messageId,
            recipient: "",
            status: "queued",
            parts,
            expiresAt: clock.now + DAY,
            jobs: [{ queue: QUEUE }],
          },
        ],
      });
      const found = await store.messages.find({
        accountId: account.id,
        channel: "email",
        id: messageId,
      });
      expect(found?.content).toEqual(shown);
      expect(found?.progress.parts).toEqual(parts);
    }),
  );

  test(
    "a message is unknown to other accounts, on the other channel, and under any other id",
    inWorld(open, async ({ store, account, addAccount, sms, id }) => {
      const [messageId = ""] = await sms();
      const other = await addAccount();
      const find = store.messages.find;
      expect(await find({ accountId: other.id, channel: "sms", id: messageId })).toBeUndefined();
      expect(await find({ accountId: account.id, channel: "email", id: messageId })).toBeUndefined();
      expect(await find({ accountId: account.id, channel: "sms", id: id() })).toBeUndefined();
      expect(await find({ accountId: account.id, channel: "sms", id: "" })).toBeUndefined();
      expect(await find({ accountId: "no such account", channel: "sms", id: messageId })).toBeUndefined();
      const timeline = store.messages.timeline;
      expect(await timeline({ accountId: other.id, channel: "sms", id: messageId })).toBeUndefined();
      expect(await timeline({ accountId: account.id, channel: "sms", id: messageId })).toEqual([]);
    }),
  );

  test(
    "a timeline is found by the message's id alone, and not where account or channel are named and are others",
    inWorld(open, async ({ store, account, addAccount, sms, email, id }) => {
      const [text = ""] = await sms();
      const mail = await email({ parts: [{ status: "pending", address: "a@x.test" }], jobs: [] });
      const other = await addAccount();
      const timeline = store.messages.timeline;
      for (const [messageId, channel, wrong] of [
        [text, "sms", "email"],
        [mail, "email", "sms"],
      ] as const) {
        for (const query of [{}, { channel }, { accountId: account.id }]) {
          expect(await timeline({ ...query, id: messageId })).toEqual([]);
        }
        expect(await timeline({ id: messageId, channel: wrong })).toBeUndefined();
        expect(await timeline({ id: messageId, accountId: other.id })).toBeUndefined();
        expect(await timeline({ id: messageId, accountId: "no such account" })).toBeUndefined();
      }
      for (const unknown of [id(), ""]) expect(await timeline({ id: unknown })).toBeUndefined();
    }),
  );

  test(
    "every message of a batch is stored and queued",
    inWorld(open, async ({ sms, claim, message }) => {
      const to = Array.from({ length: 1_000 }, (_, index) => `+9198${String(index).padStart(8, "0")}`);
      const ids = await sms({ to });
      const jobs = await claim(2_000);
      expect(jobs.map((job) => job.messageId).sort()).toEqual([...ids].sort());
      expect((await message(ids[999] ?? "")).recipient).toBe("+919800000999");
    }),
  );

  test(
    "a request that cannot be stored leaves nothing behind",
    inWorld(open, async ({ store, sms, account, clock, id, claim, key, message }) => {
      const [taken = ""] = await sms();
      const fresh = id();
      const idempotency = { ...key("k"), answer: { status: 202, body: "{}" } };
      const frame = {
        status: "queued",
        parts: [],
        expiresAt: clock.now + DAY,
        jobs: [{ queue: QUEUE }],
      } as const;
      const accepting = store.intake.accept({
        accountId: account.id,
        flow: "batch",
        content: SMS,
        messages: [
          { id: fresh, recipient: "+911", ...frame },
          { id: taken, recipient: "+912", ...frame },
        ],
        idempotency,
      });
      expect(await rejection(accepting)).toBeInstanceOf(Error);
      expect(String(await rejection(message(fresh)))).toContain("no such message");
      expect(await store.intake.savedAnswer(key("k"))).toBeUndefined();
      expect((await claim()).map((job) => job.messageId)).toEqual([taken]);
    }),
  );

  test(
    "one bad call never fails its neighbours, and leaves nothing among them",
    inWorld(open, async ({ store, sms, account, clock, claim, id, message }) => {
      const [taken = ""] = await sms();
      const half = id();
      const send = (accountId: string, ...ids: string[]) =>
        store.intake.accept({
          accountId,
          flow: "single",
          content: SMS,
          messages: ids.map((messageId) => ({
            id: messageId,
            recipient: "+1",
            status: "queued",
            parts: [],
            expiresAt: clock.now + DAY,
            jobs: [{ queue: QUEUE }],
          })),
        });
      const results = await Promise.allSettled([
        sms(),
        send(account.id, half, taken),
        sms(),
        send(account.id, taken),
        sms(),
      ]);
      expect(results.map((result) => result.status === "fulfilled")).toEqual(
        results.map((_, index) => index % 2 === 0),
      );
      expect(await claim()).toHaveLength(4);
      expect(String(await rejection(message(half)))).toContain("no such message");
    }),
  );

  test(
    "a key leads to its account and the settings that hold for it, until it is revoked",
    inWorld(open, async ({ store, account, clock, id }) => {
      const apiKey = {
        id: id(),
        accountId: account.id,
        prefix: "pr_live_abcd",
        digest: "f00d",
        createdAt: clock.now,
      };
      await store.records.create("apiKeys", apiKey);
      await store.records.setSettings(undefined, { a: "instance" });
      await store.records.setSettings(undefined, { b: "instance" });
      await store.records.setSettings(account.id, { b: "account" });
      expect(await store.records.findKeyOwner("f00d")).toEqual({
        keyId: apiKey.id,
        account,
        settings: { a: "instance", b: "account" },
      });
      expect(await store.records.findKeyOwner("beef")).toBeUndefined();
      await store.records.update("accounts", account, { name: "renamed" });
      expect((await store.records.findKeyOwner("f00d"))?.account.name).toBe("renamed");
      await store.records.setSettings(account.id, { b: undefined });
      const { settings } = (await store.records.findKeyOwner("f00d"))!;
      expect(settings).toEqual({ a: "instance", b: "instance" });
      await store.records.update("apiKeys", apiKey, { revokedAt: clock.now });
      expect(await store.records.findKeyOwner("f00d")).toBeUndefined();
    }),
  );

  test(
    "every character comes out as it went in, U+0000 and those for private use as well",
    inWorld(open, async ({ store, account, sms, claimOne, settle, key, id: newId, message }) => {
      const odd = "a\0b\ue000c\ue0000\0";
      const content: Content = { ...SMS, text: odd, tags: [odd], metadata: { [odd]: odd } } as Content;
      const answer = { status: 202, body: odd };
      const [id = ""] = await sms({ content, idempotency: { ...key(odd), answer } });
      expect(await store.intake.savedAnswer(key(odd))).toMatchObject({ body: odd });
      await store.records.setSettings(account.id, { keep_bodies: odd });
      const job = await claimOne();
      expect(job).toMatchObject({ content, settings: { keep_bodies: odd } });
      await settle(job, { detail: { raw: odd } });
      const query = { accountId: account.id, channel: "sms", id } as const;
      expect((await store.messages.timeline(query))?.[0]?.detail).toMatchObject({ raw: odd });
      expect((await message(id)).content).toMatchObject({ tags: [odd], metadata: { [odd]: odd } });
      const other = { id: newId(), name: odd, mode: "live", createdAt: 0 } as const;
      await store.records.create("accounts", other);
      expect(await store.records.find("accounts", { name: odd })).toEqual(other);
    }),
  );

  test(
    "a message that waits longer than was asked for says why, and becomes ready when it is due",
    inWorld(open, async ({ store, account, clock, id }) => {
      const messageId = id();
      const dueAt = clock.now + 3_600_000;
      const deferral = { deferred_until: "2026-01-16T04:30:00.000Z", reason: "it is night" };
      const jobs = [{ queue: QUEUE }];
      const message = {
        id: messageId,
        recipient: "+919812345678",
        status: "queued",
        parts: [],
        jobs,
      } as const;
      await store.intake.accept({
        accountId: account.id,
        flow: "single",
        content: SMS,
        messages: [{ ...message, expiresAt: clock.now + DAY, dueAt, deferral }],
      });
      const query = { accountId: account.id, channel: "sms", id: messageId } as const;
      const entry = {
        position: 1,
        at: clock.now,
        kind: "status",
        status: "queued",
        detail: deferral,
      } as const;
      expect(await store.messages.timeline(query)).toEqual([entry]);
      const claim = { queue: QUEUE, limit: 1, leaseMs: 1000 };
      expect(await store.queue.claim({ ...claim, now: clock.now })).toEqual([]);
      expect(await store.queue.stage(dueAt, 10)).toBe(1);
      const [job] = await store.queue.claim({ ...claim, now: dueAt });
      expect(job?.progress).toMatchObject({ status: "sending", position: 1 });
    }),
  );
}
