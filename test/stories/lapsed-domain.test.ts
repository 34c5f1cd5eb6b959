/** A verified domain loses its DNS records: it warns first, and only then stops sending. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, liveAccount, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import { type FakeSmtp, startFakeSmtp } from "../fakes/fake-smtp.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";

onBothStores(() => {
  const DAY_MS = 24 * 3_600_000;

  let postrider: HeldPostrider;
  let smtp: FakeSmtp;
  let dns: FakeDns;
  let account: { accountId: string; apiKey: string };
  let domain: Shown;
  let last: MessageAt;

  interface Shown {
    readonly domain_id: string;
    readonly state: string;
    readonly stops_at?: string;
    readonly checked_at?: string;
    readonly records: readonly { type: string; name: string; value: string; purpose: string }[];
  }

  beforeEach(async () => {
    [postrider, smtp, dns] = await Promise.all([startHeldPostrider(), startFakeSmtp(), startFakeDns()]);
    account = await liveAccount(postrider);
    const connector = { kind: "smtp", config: { host: smtp.host, port: smtp.port } };
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", connector);
    await admin(postrider, "/routes", { channel: "email", connector_ids: [connector_id] });
    await admin(postrider, "/settings/dns_servers", { value: dns.address }, "PUT");
    await admin(postrider, "/settings/domain_grace_days", { value: "2" }, "PUT");
    domain = await admin(postrider, "/domains", { account_id: account.accountId, domain: "acme.example" });
    publish();
    await admin(postrider, `/domains/${domain.domain_id}/verify`, {});
  });

  afterEach(async () => {
    await smtp.close();
    dns.close();
    await postrider.close();
  });

  function publish(): void {
    for (const { type, name, value } of domain.records)
      (type === "TXT" ? dns.txt : dns.cname).set(name, value);
  }

  const show = () => admin<Shown>(postrider, `/domains/${domain.domain_id}`);

  /**
   * Lets upkeep look again, so much later. It does once a minute: nothing is to be waited for on the way there, and from
   * then on DNS, at every step.
   */
  async function nextLook(laterMs: number): Promise<Shown> {
    const before = (await show()).checked_at;
    postrider.leap(laterMs);
    await postrider.pass(55_000);
    await postrider.passUntil(async () => (await show()).checked_at !== before, 130_000);
    return show();
  }

  async function nextDay(state: string): Promise<void> {
    expect((await nextLook(DAY_MS)).state).toBe(state);
  }

  async function sendOne(over: Readonly<Record<string, unknown>> = {}): Promise<number> {
    await postrider.pass(1_100);
    const { status, body } = await send(postrider, {
      apiKey: account.apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email: "ann@example.net" }],
        subject: "News",
        body_text: "All is well.",
        ...over,
      },
    });
    last = { path: `/v1/emails/messages/${body.message_id}`, apiKey: account.apiKey };
    return status;
  }

  /** A message from the domain that is due in three days. */
  async function scheduleOne(): Promise<MessageAt> {
    const dueAt = new Date(postrider.now() + 3 * DAY_MS + 3_600_000);
    expect(await sendOne({ schedule_at: dueAt.toISOString() })).toBe(202);
    return last;
  }

  test("a domain whose records are gone warns for the grace time, then sends nothing, and sends again once they are back", async () => {
    expect((await show()).state).toBe("verified");
    dns.txt.clear();
    await nextDay("failing");
    expect(await sendOne()).toBe(202);
    const warning = postrider.logged.find(({ msg }) => String(msg).includes("soon nothing will be sent"));
    expect(warning).toMatchObject({
      domain: "acme.example",
      missing: expect.arrayContaining([expect.any(String)]),
    });
    expect((await show()).stops_at).toEndWith("Z");
    const metrics = async () => (await fetch(`${postrider.url}/metrics`)).text();
    expect(await metrics()).toContain('postrider_domains{state="failing"} 1');

    await nextDay("failing");
    await nextDay("lapsed");
    expect(await sendOne()).toBe(400);
    expect(await metrics()).toContain('postrider_domains{state="lapsed"} 1');

    publish();
    await nextDay("verified");
    expect(await sendOne()).toBe(202);
  });

  test("what was scheduled while the domain was verified is not sent once it has lapsed", async () => {
    const message = await scheduleOne();
    dns.txt.clear();
    for (const state of ["failing", "failing", "lapsed"]) await nextDay(state);
    expect(await postrider.status(message)).toBe("scheduled");
    postrider.leap(3_600_000);
    expect(await postrider.reached(message, "sent", "failed")).toBe("failed");
    expect(smtp.received).toEqual([]);
  });

  test("what was scheduled is not sent once the domain is deleted, and the timeline tells why", async () => {
    const message = await scheduleOne();
    await admin(postrider, `/domains/${domain.domain_id}`, undefined, "DELETE");
    postrider.leap(4 * DAY_MS);
    expect(await postrider.reached(message, "sent", "failed")).toBe("failed");
    expect(smtp.received).toEqual([]);
    const id = message.path.split("/").at(-1);
    const at = `/messages/email/${id}/timeline?account_id=${account.accountId}`;
    const { data } = await admin<{ data: readonly { error?: { code: string } }[] }>(postrider, at);
    expect(data.at(-1)?.error?.code).toBe("domain_not_verified");
  });

  test("name servers that do not answer take nothing away", async () => {
    for (const { name } of domain.records) dns.failing.add(name);
    for (const day of [1, 2, 3]) await nextLook(day * DAY_MS);
    expect((await show()).state).toBe("verified");
    expect(await sendOne()).toBe(202);
  });

  test("a new domain is verified without being asked for, once its records are there", async () => {
    domain = await admin(postrider, "/domains", { account_id: account.accountId, domain: "later.example" });
    await postrider.pass(61_000);
    expect((await show()).state).toBe("pending");
    publish();
    expect((await nextLook(3_600_000)).state).toBe("verified");
  });
});
