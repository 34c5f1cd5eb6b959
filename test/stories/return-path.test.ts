/** Whom a server tells of a bounce: us, where the domain's return path leads to our host, and otherwise the sender. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, liveAccount, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import { type RawSmtp, startRawSmtp } from "../fakes/fake-smtp.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let relay: RawSmtp;
  let dns: FakeDns;

  beforeEach(async () => {
    const offersDsn = (verb: string) => (verb === "EHLO" ? "250-relay.test\r\n250 DSN" : undefined);
    [postrider, relay, dns] = await Promise.all([
      startHeldPostrider(),
      startRawSmtp(offersDsn),
      startFakeDns(),
    ]);
  });

  afterEach(async () => {
    await relay.close();
    dns.close();
    await postrider.close();
  });

  /** What the relay was told of one email. */
  async function envelope(): Promise<{ id: string; said: readonly string[] }> {
    const { accountId, apiKey } = await liveAccount(postrider);
    const connector = { kind: "smtp", config: { host: relay.host, port: relay.port } };
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", connector);
    await admin(postrider, "/routes", { channel: "email", connector_ids: [connector_id] });
    await admin(postrider, "/settings/dns_servers", { value: dns.address }, "PUT");
    const domain = await admin<{
      domain_id: string;
      records: { type: string; name: string; value: string }[];
    }>(postrider, "/domains", { account_id: accountId, domain: "acme.example" });
    for (const { type, name, value } of domain.records)
      (type === "TXT" ? dns.txt : dns.cname).set(name, value);
    await admin(postrider, `/domains/${domain.domain_id}/verify`, {});
    const { body } = await send(postrider, {
      apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email: "ann@example.net" }],
        subject: "News",
        body_text: "All is well.",
      },
    });
    const said = [await relay.heard("MAIL"), await relay.heard("RCPT")];
    return { id: String(body.message_id), said };
  }

  test("with a return path that leads to our host, bounces come to us and the relay is asked what becomes of the mail", async () => {
    await admin(postrider, "/settings/return_path_host", { value: "mail.operator.example" }, "PUT");
    const { id, said } = await envelope();
    expect(said[0]).toMatch(/^MAIL FROM:<b-[a-z2-7]{40}@bounce\.acme\.example> RET=HDRS ENVID=/);
    expect(said[0]).toEndWith(id);
    expect(said[1]).toBe("RCPT TO:<ann@example.net> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ann@example.net");
  });

  test("without a host of ours bounces go to the sender", async () => {
    const { said } = await envelope();
    expect(said).toEqual(["MAIL FROM:<hello@acme.example>", "RCPT TO:<ann@example.net>"]);
  });
});
