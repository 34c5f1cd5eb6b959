/** The parts of a chaos run with emails: the processes, relays, two senders with domains of their own, and their receivers. */
import { admin, liveAccount } from "../../admin.ts";
import { type FakeDns, startFakeDns } from "../../fakes/fake-dns.ts";
import {
  BEHAVIOURS,
  type FakeWebhookReceiver,
  startFakeWebhookReceiver,
} from "../../fakes/fake-webhook-receiver.ts";
import { keptPort } from "../../fakes/kept-port.ts";
import type { PostriderProcess } from "../../postrider-process.ts";
import { allowHooks } from "../../webhook-rig.ts";
import { type Store, startFleet } from "../fleet.ts";
import { type AnyWorld, behave, closeWorld, secretOf, untilMidnight } from "../world.ts";
import type { AskedMail, Sender } from "./mail-model.ts";
import { type MailPlan, mailPlanOf } from "./mail-plan.ts";
import { type ChaosRelay, startChaosRelay } from "./relay.ts";
import type { RelayOptions } from "./relay-talk.ts";

export interface MailWorld extends AnyWorld<AskedMail> {
  readonly plan: MailPlan;
  readonly relays: readonly ChaosRelay[];
}

/** Of the recipients. */
export const DOMAINS = ["example.net", "example.org"] as const;

/** Short waits, and connections that end after a few mails. */
const CONNECTOR = {
  max_connections: 4,
  max_messages_per_connection: 5,
  connect_timeout_ms: 1_000,
  greeting_timeout_ms: 1_000,
  response_timeout_ms: 1_000,
  send_timeout_ms: 2_000,
  idle_timeout_ms: 300,
};

/** The settings of each account. A held email is held until its window ends. */
const SETTINGS = [{}, { on_unconfirmed: "hold" }] as const;
export const WINDOW_HOURS = 1;

export async function openMailWorld(
  store: Store,
  { seed, steps }: { readonly seed: string; readonly steps: number },
): Promise<MailWorld> {
  const plan = mailPlanOf(seed, steps);
  const bouncePorts = [await keptPort(), await keptPort()];
  const fleet = await startFleet(store, untilMidnight() - plan.beforeMidnightMs, (place) => ({
    BOUNCE_PORT: String(bouncePorts[place]),
  }));
  const dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  const service = fleet.some(() => 0)!;
  await allowHooks(service, dns.address);
  const relays = await startRelays(plan, { seed, bouncePorts: plan.hasReturnPath ? bouncePorts : [] });
  if (plan.hasReturnPath)
    await admin(service, "/settings/return_path_host", { value: "bounces.postrider.example" }, "PUT");
  const connectors = plan.isDirect ? [mailHosts(relays, dns)] : relays.map(connectorTo);
  await openRoute(service, connectors);
  const receivers = new Map<Sender, FakeWebhookReceiver>();
  for (const settings of SETTINGS) {
    const { sender, receiver } = await openSender(service, { settings, dns, now: fleet.now });
    behave(receiver, `${seed}/${sender.name}`);
    receivers.set(sender, receiver);
  }
  const accounts = [...receivers.keys()];
  return {
    seed,
    plan,
    fleet,
    relays,
    accounts,
    receivers,
    model: {
      channel: "email",
      asked: [],
      canceled: [],
      problems: [],
      toldFinal: new Map(),
      feeds: new Map(accounts.map((account) => [account, []])),
    },
    beKind() {
      for (const relay of relays) relay.beKind();
      for (const receiver of receivers.values()) receiver.behave(BEHAVIOURS.ok);
    },
    close: () => closeWorld({ fleet, peers: [...relays, ...receivers.values()], dns }),
  };
}

type Starting = Pick<RelayOptions, "seed" | "bouncePorts">;

async function startRelays(plan: MailPlan, starting: Starting): Promise<readonly ChaosRelay[]> {
  const first = await startChaosRelay({ name: "first", ...starting });
  if (plan.relays === 1) return [first];
  // All mail hosts have the same port.
  const place = plan.isDirect ? { host: "127.0.0.2", port: first.port } : {};
  return [first, await startChaosRelay({ name: "second", ...starting, ...place })];
}

interface Connecting {
  readonly kind: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

function connectorTo({ name, host, port }: ChaosRelay): Connecting {
  return { kind: "smtp", name, config: { host, port, tls: "none", ...CONNECTOR } };
}

/** Each relay is the mail host of a domain, and stands in for the other. */
function mailHosts(relays: readonly ChaosRelay[], dns: FakeDns): Connecting {
  for (const { name, host } of relays) dns.a.set(hostOf(name), [host]);
  const [one, other] = DOMAINS;
  dns.mx.set(one, [`10 ${hostOf("first")}`, `20 ${hostOf("second")}`]);
  dns.mx.set(other, [`10 ${hostOf("second")}`, `20 ${hostOf("first")}`]);
  const allowed_ranges = ["127.0.0.0/8"];
  return { kind: "mx", name: "direct", config: { port: relays[0]?.port, allowed_ranges, ...CONNECTOR } };
}

/** The name of a relay as a mail host. */
export const hostOf = (relay: string) => `${relay}.mx.example`;

async function openRoute(service: PostriderProcess, connectors: readonly Connecting[]): Promise<void> {
  const ids: string[] = [];
  for (const connector of connectors)
    ids.push((await admin<{ connector_id: string }>(service, "/connectors", { ...connector })).connector_id);
  await admin(service, "/routes", { channel: "email", connector_ids: ids });
}

interface Opening {
  readonly settings: Readonly<Record<string, string>>;
  readonly dns: FakeDns;
  readonly now: () => number;
}

async function openSender(service: PostriderProcess, { settings, dns, now }: Opening) {
  const { accountId, apiKey } = await liveAccount(service);
  for (const [name, value] of Object.entries({ ...settings, email_window_hours: String(WINDOW_HOURS) }))
    await admin(service, `/settings/${name}?account_id=${accountId}`, { value }, "PUT");
  const name = settings.on_unconfirmed ?? "resend";
  const domain = `${name}.example`;
  await verifyDomain(service, dns, { account_id: accountId, domain });
  const receiver = await startFakeWebhookReceiver({ secret: await secretOf(service, accountId), now });
  const sender: Sender = {
    name,
    accountId,
    apiKey,
    domain,
    callbackUrl: receiver.url(),
    holds: settings.on_unconfirmed === "hold",
  };
  return { sender, receiver };
}

interface ShownDomain {
  readonly domain_id: string;
  readonly records: readonly { readonly type: string; readonly name: string; readonly value: string }[];
}

async function verifyDomain(
  service: PostriderProcess,
  dns: FakeDns,
  wanted: { readonly account_id: string; readonly domain: string },
): Promise<void> {
  const { domain_id, records } = await admin<ShownDomain>(service, "/domains", wanted);
  for (const { type, name, value } of records) {
    if (type === "TXT") dns.txt.set(name, value);
    else if (type === "CNAME") dns.cname.set(name, value);
  }
  await admin(service, `/domains/${domain_id}/verify`, {});
}
