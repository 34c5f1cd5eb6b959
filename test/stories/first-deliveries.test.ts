/** From the HTTP request to the final state, over a real SMSC and a real SMTP server on real sockets. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { admin, liveAccount, reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type FakeSmtp, startFakeSmtp } from "../fakes/fake-smtp.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores(() => {
  const ENTITY = "1101160000000000001";
  const TEMPLATE = "1107160000000000001";
  /** With letters that no hexadecimal number has: by chance it is in no id, and in no time. */
  const CODE = "QX482913";

  const folder = makeDataFolder();
  let service: PostriderProcess;
  let smsc: FakeSmsc;
  let smtp: FakeSmtp;
  let dns: FakeDns;
  let account: { accountId: string; apiKey: string };

  beforeAll(async () => {
    [service, smsc, smtp, dns] = await Promise.all([
      startPostrider({ dataFolder: folder.path, env: { LOG_LEVEL: "debug" } }),
      startFakeSmsc({ receipts: "after" }),
      startFakeSmtp(),
      startFakeDns(),
    ]);
    account = await liveAccount(service);
  });

  afterAll(async () => {
    service.kill("SIGTERM");
    const code = await service.exited;
    await Promise.all([smsc.close(), smtp.close()]);
    dns.close();
    folder.remove();
    expect(code).toBe(0);
  });

  test("an SMS goes from the HTTP request over a real SMSC to delivered", async () => {
    const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
      kind: "smpp",
      config: { host: smsc.host, port: smsc.port, system_id: "acme", password: "secret" },
    });
    expect(await admin(service, `/connectors/${connector_id}/test`, {})).toMatchObject({ ok: true });
    await admin(service, "/routes", { channel: "sms", connector_ids: [connector_id] });
    await admin(service, "/senders", {
      account_id: account.accountId,
      sender_id: "ACMEIN",
      dlt_entity_id: ENTITY,
      is_default: true,
    });
    await admin(service, "/sms-templates", {
      account_id: account.accountId,
      name: "otp",
      body: "{#var#} is your code for Acme. Do not share it.",
      dlt_template_id: TEMPLATE,
      dlt_entity_id: ENTITY,
      from: "ACMEIN",
    });

    const answer = await send(service, {
      apiKey: account.apiKey,
      path: "/v1/sms/messages",
      body: {
        to: "9876543210",
        dlt_template_id: TEMPLATE,
        dlt_entity_id: ENTITY,
        variables: { "1": CODE },
      },
    });
    expect(answer).toMatchObject({ status: 202, body: { status: "queued", to: "+919876543210" } });
    const message = await reached(
      service,
      { apiKey: account.apiKey, path: `/v1/sms/messages/${answer.body.message_id}` },
      "delivered",
      "failed",
      "undelivered",
    );
    expect(message.status).toBe("delivered");

    const [submitted] = smsc.submits;
    expect(smsc.submits.length).toBe(1);
    expect(submitted?.destination.address).toBe("919876543210");
    expect(submitted?.source.address).toBe("ACMEIN");
    expect(String(Buffer.from(submitted?.shortMessage ?? []))).toBe(
      `${CODE} is your code for Acme. Do not share it.`,
    );
    expect(String(Buffer.from(submitted?.tlvs.get(0x1400) ?? []))).toBe(ENTITY);
    expect(String(Buffer.from(submitted?.tlvs.get(0x1401) ?? []))).toBe(TEMPLATE);
  });

  test("an email goes from the HTTP request over a real SMTP server to sent, signed for a domain proven over DNS", async () => {
    const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
      kind: "smtp",
      config: { host: smtp.host, port: smtp.port },
    });
    expect(await admin(service, `/connectors/${connector_id}/test`, {})).toMatchObject({ ok: true });
    await admin(service, "/routes", { channel: "email", connector_ids: [connector_id] });
    const body = {
      from: { email: "hello@acme.example", name: "Acme" },
      to: [{ email: "ann@example.net", name: "Ann" }],
      bcc: [{ email: "audit@acme.example" }],
      subject: "Grüße",
      body_text: "Hello Ann",
      body_html: "<p>Hello <b>Ann</b></p>",
    };
    const request = { apiKey: account.apiKey, path: "/v1/emails/messages", body };
    expect((await send(service, request)).body).toMatchObject({
      code: 400,
      message: "validation failed",
      details: { "from.email": "domain is not verified" },
    });

    await admin(service, "/settings/dns_servers", { value: dns.address }, "PUT");
    const domain = await admin<{
      domain_id: string;
      records: { type: string; name: string; value: string }[];
    }>(service, "/domains", {
      account_id: account.accountId,
      domain: "acme.example",
    });
    for (const record of domain.records) {
      if (record.type === "TXT") dns.txt.set(record.name, record.value);
      else dns.cname.set(record.name, record.value);
    }
    expect(await admin(service, `/domains/${domain.domain_id}/verify`, {})).toMatchObject({ verified: true });

    // A cached "not verified" lives for a second at the most.
    const answer = await until(
      () => send(service, request),
      ({ status }) => status !== 400,
    );
    expect(answer).toMatchObject({ status: 202, body: { status: "queued" } });
    const message = await reached(
      service,
      { apiKey: account.apiKey, path: `/v1/emails/messages/${answer.body.message_id}` },
      "sent",
      "failed",
      "bounced",
    );
    expect(message.status).toBe("sent");

    const mail = await smtp.mail(0);
    expect(mail.from).toContain("@acme.example");
    expect(mail.to.toSorted()).toEqual(["ann@example.net", "audit@acme.example"]);
    expect(mail.parsed.subject).toBe("Grüße");
    expect(mail.parsed.text?.trim()).toBe("Hello Ann");
    expect(mail.parsed.html).toContain("<b>Ann</b>");
    expect(mail.raw).toContain("DKIM-Signature:");
    expect(mail.raw.toLowerCase()).not.toContain("audit@acme.example");
  });

  test("no log line holds a body, a full number, an address or a key", () => {
    const output = service
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .join("\n");
    for (const secret of [
      CODE,
      "9876543210",
      "Hello Ann",
      "ann@example.net",
      account.apiKey,
      service.sandbox.admin_token,
    ]) {
      expect(output).not.toContain(secret);
    }
  });
});
