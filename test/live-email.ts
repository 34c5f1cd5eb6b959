/** A service with a live account whose email goes through a fake relay, and a listener for what comes back. */
import { expect } from "bun:test";
import type { createMailKeys } from "../src/cli/email/mail-keys.ts";
import { admin, liveAccount, send } from "./admin.ts";
import { type FakeDns, startFakeDns } from "./fakes/fake-dns.ts";
import { type FakeSmtp, startFakeSmtp } from "./fakes/fake-smtp.ts";
import { mailBack, mailKeysOf } from "./fakes/mail-back.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "./held-postrider.ts";
import type { Entry } from "./live-sms.ts";

export interface LiveEmail {
  readonly postrider: HeldPostrider;
  readonly relay: FakeSmtp;
  readonly dns: FakeDns;
  readonly account: { readonly accountId: string; readonly apiKey: string };
  readonly connectorId: string;
  readonly keys: ReturnType<typeof createMailKeys>;
  /** Asks for an email to these names at example.net; resolves with the answer. */
  ask(names: readonly string[], over?: Readonly<Record<string, unknown>>): ReturnType<typeof send>;
  /** Accepts an email to these names at example.net, and waits until the relay has it. */
  send(names: readonly string[], over?: Readonly<Record<string, unknown>>): Promise<SentEmail>;
  /** Hands a mail to the bounce listener; resolves with the reply. */
  back(to: string | readonly string[], raw: string): Promise<string>;
  timeline(message: MessageAt): Promise<readonly Entry[]>;
  suppressions(): Promise<readonly Readonly<Record<string, string>>[]>;
  /** Where the connector's provider tells what became of mails: as it is shown to operators, but on this machine. */
  callbackUrl(): Promise<string>;
  close(): Promise<void>;
}

export interface SentEmail extends MessageAt {
  readonly id: string;
  /** The reverse-path that the relay was given for the recipient at this place. */
  returnPath(part: number): string;
}

const PUBLIC_URL = "https://mail.acme.example";

/** Settings are read again after a second or two. */
const SETTINGS_READ_MS = 2_100;

/** `connector`: settings of its own. */
export async function startLiveEmail(
  connector: Readonly<Record<string, unknown>> = {},
  more: Parameters<typeof startHeldPostrider>[2] = {},
): Promise<LiveEmail> {
  const [postrider, relay, dns] = await Promise.all([
    startHeldPostrider(undefined, { BOUNCE_PORT: "0" }, more),
    startFakeSmtp(),
    startFakeDns(),
  ]);
  const account = await liveAccount(postrider);
  const { connector_id: connectorId } = await admin<{ connector_id: string }>(postrider, "/connectors", {
    kind: "smtp",
    config: { host: relay.host, port: relay.port, max_connections: 1, ...connector },
  });
  await admin(postrider, "/routes", { channel: "email", connector_ids: [connectorId] });
  await verifyDomain(postrider, dns, account.accountId);
  const keys = mailKeysOf(postrider.dataFolder);
  const ask: LiveEmail["ask"] = (names, over = {}) =>
    send(postrider, {
      apiKey: account.apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: names.map((name) => ({ email: `${name}@example.net` })),
        subject: "News",
        body_text: "All is well.",
        ...over,
      },
    });
  const list = async <T>(path: string) => (await admin<{ data: readonly T[] }>(postrider, path)).data;

  return {
    postrider,
    relay,
    dns,
    account,
    connectorId,
    keys,
    ask,
    async send(names, over) {
      const before = relay.received.length;
      const { status, body } = await ask(names, over);
      expect(status).toBe(202);
      const id = String(body.message_id);
      const message = { id, path: `/v1/emails/messages/${id}`, apiKey: account.apiKey };
      // Asked over HTTP at every step, so that held time does not run ahead of what the sockets bring.
      const isThere = async () => (await postrider.status(message)) !== "" && relay.received.length > before;
      await postrider.passUntil(isThere, 60_000);
      await postrider.reached(message, "sent", "delivered", "bounced", "failed");
      const mails = relay.received.slice(before);
      const pathOf = (name: string) => mails.find(({ to }) => to.includes(`${name}@example.net`))?.from ?? "";
      return { ...message, returnPath: (part) => pathOf(names[part] ?? "") };
    },
    back: (to, raw) => mailBack({ port: postrider.bouncePort!, to, raw }),
    timeline: ({ path }) =>
      list<Entry>(`/messages/email/${path.split("/").at(-1)}/timeline?account_id=${account.accountId}`),
    suppressions: () => list(`/suppressions?account_id=${account.accountId}`),
    async callbackUrl() {
      await admin(postrider, "/settings/public_url", { value: PUBLIC_URL }, "PUT");
      await postrider.pass(SETTINGS_READ_MS);
      const shown = await admin<{ callback_url: string }>(postrider, `/connectors/${connectorId}`);
      return shown.callback_url.replace(PUBLIC_URL, postrider.url);
    },
    async close() {
      await relay.close();
      dns.close();
      await postrider.close();
    },
  };
}

async function verifyDomain(postrider: HeldPostrider, dns: FakeDns, accountId: string): Promise<void> {
  await admin(postrider, "/settings/dns_servers", { value: dns.address }, "PUT");
  await admin(postrider, "/settings/return_path_host", { value: "bounces.postrider.example" }, "PUT");
  const domain = await admin<{ domain_id: string; records: { type: string; name: string; value: string }[] }>(
    postrider,
    "/domains",
    { account_id: accountId, domain: "acme.example" },
  );
  for (const { type, name, value } of domain.records) {
    if (type === "TXT") dns.txt.set(name, value);
    else if (type === "CNAME") dns.cname.set(name, value);
  }
  await postrider.pass(SETTINGS_READ_MS);
  expect(await admin(postrider, `/domains/${domain.domain_id}/verify`, {})).toMatchObject({ verified: true });
}
