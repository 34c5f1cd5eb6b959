import { beforeAll, describe, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  describe("what was sent", () => {
    const entry = (to: string, over: object) => ({
      id: Bun.randomUUIDv7(),
      accountId: admin.accountId,
      messageId: Bun.randomUUIDv7(),
      receivedAt: admin.clock.now(),
      to,
      ...over,
    });

    test("the sandbox's messages are listed rendered, and found by what they were", async () => {
      const sms = entry("+919876543210", {
        channel: "sms",
        rendered: { text: "Hi", segments: 1, encoding: "gsm7" },
      });
      const mail = entry("a@example.org", {
        channel: "email",
        rendered: {
          subject: "Hello",
          to: [{ email: "a@example.org" }],
          body_text: "x",
          source: "Subject: Hello",
        },
      });
      await admin.store.sandbox.record([sms, mail] as never);
      const list = async (query: string) => (await admin.call("GET", `sandbox/messages?${query}`)).json.data;
      expect(await list("to=%2B919876543210")).toEqual([
        {
          id: sms.id,
          account_id: admin.accountId,
          message_id: sms.messageId,
          channel: "sms",
          to: "+919876543210",
          received_at: new Date(admin.clock.now()).toISOString(),
          text: "Hi",
          segments: 1,
          encoding: "gsm7",
        },
      ]);
      expect(await list("to=+919876543210")).toHaveLength(1);
      expect(await list(`message_id=${mail.messageId}`)).toMatchObject([
        { to: "a@example.org", subject: "Hello", recipients: [{ email: "a@example.org" }], body_text: "x" },
      ]);
      expect(await list("channel=email")).toHaveLength(1);
      expect(await list(`account_id=${admin.accountId}`)).toHaveLength(2);
      expect(await list(`account_id=${live}`)).toEqual([]);
      expect((await admin.call("GET", "sandbox/messages?channel=fax")).json.details).toEqual({
        channel: "must be one of sms, email",
      });
    });

    test("the sandbox's messages are listed from either end, page by page, each once", async () => {
      const entries = Array.from({ length: 5 }, () =>
        entry("+919876500001", { channel: "sms", rendered: { text: "Hi" } }),
      );
      await admin.store.sandbox.record(entries as never);
      const ids = entries.map(({ id }) => id);
      const pages = async (query: string) => {
        const seen: string[] = [];
        let next: string | undefined;
        do {
          const path = `sandbox/messages?to=%2B919876500001&limit=2&${query}${next ? `&after=${next}` : ""}`;
          const { json } = await admin.call("GET", path);
          seen.push(...json.data.map((each: { id: string }) => each.id));
          next = json.next;
        } while (next !== undefined);
        return seen;
      };
      expect(await pages("")).toEqual(ids);
      expect(await pages("order=oldest")).toEqual(ids);
      expect(await pages("order=newest")).toEqual(ids.toReversed());
      expect(await pages(`order=newest&account_id=${admin.accountId}`)).toEqual(ids.toReversed());
      expect((await admin.call("GET", "sandbox/messages?order=latest&after=x")).json.details).toEqual({
        order: "must be one of oldest, newest",
        after: "must be the `next` of an earlier page",
      });
    });

    test("a message's timeline is shown by its id, and of the account and channel that are named only", async () => {
      const id = Bun.randomUUIDv7();
      await admin.store.intake.accept({
        accountId: live,
        flow: "single",
        content: { channel: "sms" },
        messages: [
          {
            id,
            recipient: "+919876543210",
            status: "queued",
            parts: [],
            expiresAt: admin.clock.now() + 1000,
            jobs: [{ queue: "q" }],
          },
        ],
      });
      const [job] = await admin.store.queue.claim({
        queue: "q",
        limit: 1,
        now: admin.clock.now(),
        leaseMs: 60_000,
      });
      await admin.store.queue.settle([
        {
          jobId: job!.jobId,
          claim: job!.claim,
          messageId: id,
          at: admin.clock.now(),
          connectorId: "c",
          countsAsAttempt: true,
          outcomes: [
            { kind: "rejected", error: { code: "smpp.0x0000000b", message: "invalid destination" } },
          ],
          next: { kind: "done" },
          keepsContent: false,
        },
      ]);
      const path = `messages/sms/${id}/timeline`;
      const { status, json } = await admin.call("GET", `${path}?account_id=${live}`);
      expect(status).toBe(200);
      expect(json.data.map((each: { position: number }) => each.position)).toEqual(
        json.data.map((_: unknown, index: number) => index + 1),
      );
      expect(json.data.at(-1)).toMatchObject({
        status: "failed",
        event_type: "sms.failed",
        sequence: 1,
        error: { code: "smpp.0x0000000b", message: "invalid destination" },
      });
      const other = await admin.call("GET", `${path}?account_id=${admin.accountId}`);
      expect([other.status, other.json.message]).toEqual([404, "message not found"]);
      for (const wrong of [`messages/email/${id}`, `messages/fax/${id}`, "messages/sms/x"]) {
        expect((await admin.call("GET", `${wrong}/timeline?account_id=${live}`)).status).toBe(404);
      }
      const byId = (id: string, query = "") => admin.call("GET", `messages/${id}/timeline${query}`);
      for (const query of ["", "?channel=sms", `?account_id=${live}`, `?account_id=${live}&channel=sms`]) {
        expect((await byId(id.toUpperCase(), query)).json).toEqual(json);
      }
      for (const query of ["?channel=email", `?account_id=${admin.accountId}`]) {
        const none = await byId(id, query);
        expect([none.status, none.json.message]).toEqual([404, "message not found"]);
      }
      for (const unknown of [Bun.randomUUIDv7(), "x"]) expect((await byId(unknown)).status).toBe(404);
      expect((await byId(id, "?channel=fax")).json.details).toEqual({ channel: "must be one of sms, email" });
      expect((await byId(id, "?account_id=x")).json.details).toEqual({ account_id: "no such account" });
    });
  });
});
