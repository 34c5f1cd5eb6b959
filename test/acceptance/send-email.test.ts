import { expect, test } from "bun:test";
import { SANDBOX_QUEUES } from "../../src/core/records/routes.ts";
import { claimJobs } from "./attempts.ts";
import { email, isoIn, liveAccount } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

const PATH = "/v1/emails/messages";
const HOUR_MS = 3600 * 1000;

function people(count: number, domain = "example.org") {
  return Array.from({ length: count }, (_, i) => ({ email: `p${i}@${domain}` }));
}

onEveryStore((start) => {
  test("an email is answered 202 with message_id, status queued and created_at", async () => {
    await using api = await start();
    const { status, json } = await api.post(PATH, email());
    expect(status).toBe(202);
    expect(json).toEqual({
      message_id: expect.any(String),
      status: "queued",
      created_at: "2026-01-15T12:00:00.000Z",
    });
  });

  test("POST /v1/emails/send is an equivalent alias", async () => {
    await using api = await start();
    expect((await api.post("/v1/emails/send", email())).status).toBe(202);
  });

  test("from, to, subject and a body are required; a missing from reports from.email too", async () => {
    await using api = await start();
    const { status, json } = await api.post(PATH, {});
    expect(status).toBe(400);
    expect(json).toEqual({
      code: 400,
      message: "validation failed",
      details: {
        from: "required",
        "from.email": "required",
        to: "required",
        subject: "required",
        body_html: expect.any(String),
        body_text: expect.any(String),
      },
    });
    expect(json.details.body_html).toBe(json.details.body_text);
  });

  test("from.email is required and must be an address", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ from: {} }))).json.details).toEqual({ "from.email": "required" });
    const { json } = await api.post(PATH, email({ from: { email: "nobody" } }));
    expect(json.details).toHaveProperty(["from.email"]);
  });

  test("from.email must belong to a verified domain", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    expect((await api.post(PATH, email(), { key: live.key })).status).toBe(202);
    const other = email({ from: { email: "a@other.example" } });
    const { status, json } = await api.post(PATH, other, { key: live.key });
    expect(status).toBe(400);
    expect(json.details).toEqual({ "from.email": "domain is not verified" });
  });

  test("from.name is optional", async () => {
    await using api = await start();
    const { json } = await api.post(PATH, email({ from: { email: "a@example.com", name: "Acme" } }));
    expect((await api.get(`${PATH}/${json.message_id}`)).json.from).toEqual({
      email: "a@example.com",
      name: "Acme",
    });
  });

  test("to takes 1 to 50 entries", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ to: people(50) }))).status).toBe(202);
    for (const to of [[], people(51)]) {
      const { status, json } = await api.post(PATH, email({ to }));
      expect(status).toBe(400);
      expect(json.details).toHaveProperty("to");
    }
  });

  test("a bad entry of to is named by index and field", async () => {
    await using api = await start();
    const { json } = await api.post(PATH, email({ to: [...people(2), { email: "x" }, {}] }));
    expect(Object.keys(json.details).sort()).toEqual(["to", "to.2.email", "to.3.email"]);
  });

  for (const field of ["cc", "bcc"]) {
    test(`${field} takes at most 20 entries`, async () => {
      await using api = await start();
      expect((await api.post(PATH, email({ [field]: people(20) }))).status).toBe(202);
      expect((await api.post(PATH, email({ [field]: people(21) }))).json.details[field]).toContain("20");
    });
  }

  test("to, cc and bcc together take at most 50 recipients", async () => {
    await using api = await start();
    const body = email({ to: people(20), cc: people(15), bcc: people(15) });
    expect((await api.post(PATH, body)).status).toBe(202);
    const { status, json } = await api.post(PATH, { ...body, to: people(21) });
    expect(status).toBe(400);
    expect(JSON.stringify(json.details)).toContain("50");
  });

  test("subject is required and has at most 998 characters", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ subject: "x".repeat(998) }))).status).toBe(202);
    expect((await api.post(PATH, email({ subject: "x".repeat(999) }))).json.details.subject).toContain("998");
    expect((await api.post(PATH, email({ subject: "" }))).json.details).toEqual({ subject: "required" });
  });

  test("body_html alone, body_text alone and both are accepted", async () => {
    await using api = await start();
    for (const bodies of [{ body_text: undefined, body_html: "<p>x" }, {}, { body_html: "<p>x" }]) {
      expect((await api.post(PATH, email(bodies))).status).toBe(202);
    }
  });

  test("reply_to must be a valid address if given", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ reply_to: "help@example.com" }))).status).toBe(202);
    expect((await api.post(PATH, email({ reply_to: "help" }))).json.details).toHaveProperty("reply_to");
  });

  test("headers are custom names only, without line ends", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ headers: { "X-Order": "A-1" } }))).status).toBe(202);
    for (const headers of [{ From: "x@y.zz" }, { "X-A": "b\r\nBcc: c@d.ee" }]) {
      expect((await api.post(PATH, email({ headers }))).status).toBe(400);
    }
  });

  test("callback_url must start with https://", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ callback_url: "https://example.com/h" }))).status).toBe(202);
    expect((await api.post(PATH, email({ callback_url: "ftp://x" }))).json.details).toHaveProperty(
      "callback_url",
    );
  });

  test("schedule_at in the future makes the message scheduled; past or over 7 days is refused", async () => {
    await using api = await start();
    expect((await api.post(PATH, email({ schedule_at: isoIn(api, HOUR_MS) }))).json.status).toBe("scheduled");
    for (const schedule_at of [isoIn(api, -1), isoIn(api, 7 * 24 * HOUR_MS + 1000)]) {
      expect((await api.post(PATH, email({ schedule_at }))).json.details).toHaveProperty("schedule_at");
    }
  });

  test("an email is due at its schedule_at, dated as of then, and its window of 48 hours begins only then", async () => {
    await using api = await start();
    const dueAt = api.clock.now() + 6 * 24 * HOUR_MS;
    const claimDue = async () => {
      await api.store.queue.stage(api.clock.now(), 10);
      return claimJobs(api, SANDBOX_QUEUES.email);
    };
    await api.post(PATH, email({ schedule_at: new Date(dueAt).toISOString() }));
    await api.clock.advance(6 * 24 * HOUR_MS - 1);
    expect(await claimDue()).toEqual([]);
    await api.clock.advance(1);
    expect(await claimDue()).toMatchObject([
      { content: { scheduledAt: dueAt }, expiresAt: dueAt + 48 * HOUR_MS },
    ]);
  });

  test("a mailbox that is named twice, in whatever spelling, gets one mail, at the address named first", async () => {
    await using api = await start();
    const to = [{ email: "Ann@example.org" }, { email: "bob@example.org" }];
    const twice = [{ email: "ann@EXAMPLE.org" }, { email: "cid@example.org" }];
    expect((await api.post(PATH, email({ to, cc: twice }))).status).toBe(202);
    const [job] = await claimJobs(api, SANDBOX_QUEUES.email);
    expect(job?.progress.parts.map(({ address }) => address)).toEqual([
      "Ann@example.org",
      "bob@example.org",
      "cid@example.org",
    ]);
  });

  test("tags: 10 are accepted and 11 refused; metadata is any object", async () => {
    await using api = await start();
    const body = email({ tags: Array(10).fill("t"), metadata: { a: { b: 1 } } });
    expect((await api.post(PATH, body)).status).toBe(202);
    expect((await api.post(PATH, { ...body, tags: Array(11).fill("t") })).json.details).toHaveProperty(
      "tags",
    );
  });

  test("live: a domain that is not verified is told along with every other problem", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    const refused = async (from: unknown, key: string) =>
      (await api.post(PATH, email({ from, subject: "", to: [{ email: "x" }] }), { key })).json.details;
    expect(await refused({ email: "a@elsewhere.example" }, live.key)).toEqual({
      "from.email": "domain is not verified",
      subject: "required",
      to: expect.any(String),
      "to.0.email": expect.stringContaining("email address"),
    });
    expect(await refused({ email: "a@example.com" }, live.key)).not.toHaveProperty(["from.email"]);
    expect(await refused({ email: "nobody" }, live.key)).toHaveProperty(
      ["from.email"],
      expect.stringContaining("email address"),
    );
    expect(await refused({ email: "a@elsewhere.example" }, api.caller.key)).not.toHaveProperty([
      "from.email",
    ]);
  });

  test("live: recipients of different routes become one job each", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    const [any] = await api.store.records.list(
      "routes",
      { accountId: live.accountId, channel: "email" },
      { limit: 1 },
    );
    const own = await api.add("routes", {
      accountId: live.accountId,
      channel: "email",
      match: "b.example",
      connectorIds: any!.connectorIds,
    });
    const to = [{ email: "1@a.example" }, { email: "2@b.example" }, { email: "3@c.example" }];
    expect((await api.post(PATH, email({ to }), { key: live.key })).status).toBe(202);
    const [first] = await claim(api, any!.id);
    const [second] = await claim(api, own.id);
    expect([first?.parts, second?.parts]).toEqual([[0, 2], [1]]);
  });

  test("live: a route for a sender's domain takes its mail before one for every sender", async () => {
    await using api = await start();
    const { accountId, key } = await liveAccount(api);
    const [any] = await api.store.records.list("routes", { accountId, channel: "email" }, { limit: 1 });
    const { connectorIds } = any!;
    const to = { accountId, channel: "email", match: "", connectorIds } as const;
    const own = await api.add("routes", { ...to, sender: "example.com" });
    await api.add("routes", { ...to, sender: "example.net" });
    expect((await api.post(PATH, email({ from: { email: "hello@Example.com" } }), { key })).status).toBe(202);
    expect([await claim(api, any!.id), await claim(api, own.id)].map(({ length }) => length)).toEqual([0, 1]);
  });
});

function claim(
  api: { store: import("../../src/store/store.ts").Store; clock: { now(): number } },
  queue: string,
) {
  return api.store.queue.claim({ queue, limit: 10, now: api.clock.now(), leaseMs: 1000 });
}
