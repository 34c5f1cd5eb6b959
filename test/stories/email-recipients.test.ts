/** One email, several recipients, and a server that is not of one mind about them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, liveAccount, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import { type FakeSmtp, startFakeSmtp } from "../fakes/fake-smtp.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import type { Entry } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smtp: FakeSmtp;
  let dns: FakeDns;
  let account: { accountId: string; apiKey: string };

  beforeEach(async () => {
    const port = await keptPort();
    [postrider, smtp, dns] = await Promise.all([
      startHeldPostrider(),
      startFakeSmtp({ port }),
      startFakeDns(),
    ]);
    account = await liveAccount(postrider);
    const config = { host: smtp.host, port: smtp.port, max_connections: 1 };
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "smtp",
      config,
    });
    await admin(postrider, "/routes", { channel: "email", connector_ids: [connector_id] });
    await verifyDomain();
  });

  afterEach(async () => {
    await smtp.close();
    dns.close();
    await postrider.close();
  });

  async function verifyDomain(): Promise<void> {
    await admin(postrider, "/settings/dns_servers", { value: dns.address }, "PUT");
    const domain = await admin<{
      domain_id: string;
      records: { type: string; name: string; value: string }[];
    }>(postrider, "/domains", { account_id: account.accountId, domain: "acme.example" });
    for (const { type, name, value } of domain.records) {
      (type === "TXT" ? dns.txt : dns.cname).set(name, value);
    }
    const verified = await admin(postrider, `/domains/${domain.domain_id}/verify`, {});
    expect(verified).toMatchObject({ verified: true });
  }

  /** An email to ann, bob and cid. */
  async function sendToThree(): Promise<MessageAt> {
    const { status, body } = await send(postrider, {
      apiKey: account.apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email: "ann@example.net" }, { email: "bob@example.net" }],
        bcc: [{ email: "cid@example.net" }],
        subject: "News",
        body_text: "All is well.",
      },
    });
    expect(status).toBe(202);
    return { path: `/v1/emails/messages/${body.message_id}`, apiKey: account.apiKey };
  }

  async function timeline({ path }: MessageAt): Promise<readonly Entry[]> {
    const id = path.split("/").at(-1);
    const at = `/messages/email/${id}/timeline?account_id=${account.accountId}`;
    return (await admin<{ data: readonly Entry[] }>(postrider, at)).data;
  }

  /** The last word on each recipient, by the name before the @. */
  async function recipients(message: MessageAt): Promise<Record<string, string>> {
    const entries = (await timeline(message)).filter(({ recipient }) => recipient !== undefined);
    return Object.fromEntries(entries.map(({ recipient, status }) => [recipient!.split("@")[0], status]));
  }

  const REACHED = ["sent", "delivered", "bounced", "failed"];

  test("a recipient refused for good has bounced, the others are sent, and nothing is sent twice", async () => {
    smtp.dial.rcpt = { "bob@example.net": { code: 550, text: "5.1.1 no such user" } };
    const message = await sendToThree();
    expect(await postrider.reached(message, ...REACHED)).toBe("bounced");
    expect(await recipients(message)).toEqual({ ann: "sent", bob: "bounced", cid: "sent" });
    expect(
      (await timeline(message)).find(({ status, recipient }) => recipient && status === "bounced"),
    ).toMatchObject({
      error: { code: "5.1.1" },
    });
    await postrider.pass(120_000);
    expect(smtp.received.map(({ to }) => to)).toEqual([["ann@example.net", "cid@example.net"]]);
  });

  test("a recipient put off is tried again alone, and the message is sent once all are", async () => {
    smtp.dial.rcpt = { "bob@example.net": { code: 451, text: "4.7.1 greylisted" } };
    const message = await sendToThree();
    await smtp.mail(0);
    await postrider.passUntil(async () => (await recipients(message)).ann === "sent", 5_000);
    expect(await postrider.status(message)).toBe("queued");
    delete smtp.dial.rcpt;
    expect(await postrider.reached({ ...message, withinMs: 120_000 }, ...REACHED)).toBe("sent");
    expect(smtp.received.map(({ to }) => to)).toEqual([
      ["ann@example.net", "cid@example.net"],
      ["bob@example.net"],
    ]);
    expect(smtp.received[1]?.parsed.headers.find(({ key }) => key === "message-id")).toEqual(
      smtp.received[0]?.parsed.headers.find(({ key }) => key === "message-id"),
    );
  });

  test.each([
    "4.2.2 mailbox full",
    // A code of another class than its reply; the reply counts.
    "5.1.1 unknown, for now",
  ])(
    "a recipient put off until the window is over has bounced, and is not tried for longer: 451 %s",
    async (text) => {
      await admin(
        postrider,
        `/settings/email_window_hours?account_id=${account.accountId}`,
        { value: "1" },
        "PUT",
      );
      await postrider.pass(1_100);
      smtp.dial.rcpt = { "bob@example.net": { code: 451, text } };
      const message = await sendToThree();
      await smtp.mail(0);
      await postrider.passUntil(async () => (await recipients(message)).ann === "sent", 5_000);
      postrider.leap(3_600_000 - 60_000);
      await postrider.pass(50_000);
      expect(["queued", "sending"]).toContain(await postrider.status(message));
      expect(await postrider.reached({ ...message, withinMs: 20_000 }, ...REACHED)).toBe("bounced");
      expect(await recipients(message)).toEqual({ ann: "sent", bob: "bounced", cid: "sent" });
      expect(smtp.received).toHaveLength(1);
    },
  );

  test("a message that the server refuses whole has failed for everybody", async () => {
    smtp.dial.message = { code: 554, text: "5.7.1 we do not like it" };
    const message = await sendToThree();
    expect(await postrider.reached(message, ...REACHED)).toBe("failed");
    expect(await recipients(message)).toEqual({ ann: "failed", bob: "failed", cid: "failed" });
  });

  test("a suppressed recipient is skipped and the others are sent; with all suppressed the message has failed and nothing is sent", async () => {
    const suppress = (name: string) =>
      admin(postrider, "/suppressions", { account_id: account.accountId, email: `${name}@example.net` });
    await suppress("bob");
    await postrider.pass(1_100);
    const some = await sendToThree();
    expect(await postrider.reached(some, ...REACHED)).toBe("sent");
    expect(smtp.received.map(({ to }) => to)).toEqual([["ann@example.net", "cid@example.net"]]);

    await suppress("ann");
    await suppress("cid");
    await postrider.pass(1_100);
    const none = await sendToThree();
    expect(await postrider.reached(none, ...REACHED)).toBe("failed");
    expect(smtp.received).toHaveLength(1);
  });

  test("an address in quotes that it does not need is on the suppression list as the one without, and either way round", async () => {
    const [quoted, plain] = ['"ann"@example.net', "dan@example.net"];
    await admin(postrider, "/suppressions", { account_id: account.accountId, email: "ann@example.net" });
    await admin(postrider, "/suppressions", { account_id: account.accountId, email: '"dan"@example.net' });
    const { body } = await send(postrider, {
      apiKey: account.apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email: quoted }, { email: plain }],
        subject: "News",
        body_text: "All is well.",
      },
    });
    const message = { path: `/v1/emails/messages/${body.message_id}`, apiKey: account.apiKey };
    expect(await postrider.reached(message, "failed", "sent")).toBe("failed");
    expect(smtp.received).toEqual([]);
  });

  test("a server that is down while the message waits gets it once when it is up", async () => {
    const { port } = smtp;
    await smtp.close();
    const message = await sendToThree();
    await postrider.pass(30_000);
    expect(["queued", "sending"]).toContain(await postrider.status(message));
    smtp = await startFakeSmtp({ port });
    expect(await postrider.reached({ ...message, withinMs: 900_000 }, ...REACHED)).toBe("sent");
    expect(smtp.received).toHaveLength(1);
  });
});
