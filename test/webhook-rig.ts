/** The whole service on a held clock, a name server, and customers' HTTPS receivers that it may reach. */
import { admin, send } from "./admin.ts";
import { type FakeDns, startFakeDns } from "./fakes/fake-dns.ts";
import {
  type FakeWebhookReceiver,
  type ReceiverOptions,
  startFakeWebhookReceiver,
} from "./fakes/fake-webhook-receiver.ts";
import { hooksTls } from "./fakes/hooks-tls.ts";
import { type HeldPostrider, startHeldPostrider } from "./held-postrider.ts";

type Json = Readonly<Record<string, unknown>>;

/** As the admin API lists it. */
export interface ShownWebhook {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly state: string;
  readonly failures: number;
  readonly attempts: number;
  readonly next_attempt_at?: string;
}

export interface ShownAttempt {
  readonly latency_ms: number;
  readonly status?: number;
  readonly answer?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface WebhookRig {
  readonly service: HeldPostrider;
  readonly dns: FakeDns;
  readonly receiver: FakeWebhookReceiver;
  readonly secret: string;
  /** Starts another receiver, which the rig also closes. */
  addReceiver(options?: ReceiverOptions): Promise<FakeWebhookReceiver>;
  /** Sends one SMS, which makes two events, sent and delivered; resolves with its id. */
  sms(callbackUrl?: string, more?: Json): Promise<string>;
  events(messageId: string): Promise<readonly ShownWebhook[]>;
  /** Lets time pass until the events of the message are in these states. */
  until(messageId: string, states: readonly string[], withinMs?: number): Promise<readonly ShownWebhook[]>;
  attempts(webhookId: string): Promise<readonly ShownAttempt[]>;
  set(setting: string, value: string | null): Promise<void>;
  stop(): Promise<void>;
}

/** `hooks.test` and every name below it lead to 127.0.0.1. */
export async function startWebhookRig(more?: Parameters<typeof startHeldPostrider>[2]): Promise<WebhookRig> {
  const service = await startHeldPostrider(undefined, undefined, more);
  const dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  const set: WebhookRig["set"] = async (name, value) =>
    void (await admin(service, `/settings/${name}`, { value }, "PUT"));
  await allowHooks(service, dns.address);
  const secret = await newestSecret(service);
  const receivers: FakeWebhookReceiver[] = [];
  const addReceiver: WebhookRig["addReceiver"] = async (options) => {
    const receiver = await startFakeWebhookReceiver({ secret, now: service.now, ...options });
    receivers.push(receiver);
    return receiver;
  };
  const receiver = await addReceiver();
  const events: WebhookRig["events"] = async (messageId) =>
    (await admin<{ data: ShownWebhook[] }>(service, `/webhooks?message_id=${messageId}`)).data;
  return {
    service,
    dns,
    receiver,
    secret,
    addReceiver,
    sms: (callbackUrl = receiver.url(), more = {}) =>
      sendSms(service, { callback_url: callbackUrl, ...more }),
    events,
    async until(messageId, states, withinMs = 60_000) {
      let last: readonly ShownWebhook[] = [];
      const areSo = async () => {
        last = await events(messageId);
        const isSo = last.map(({ state }) => state).join() === states.join();
        // As long as one is still to happen, the others must not come due.
        if (!isSo && last.length === states.length) service.leap(restOf(last, service.now()));
        return isSo;
      };
      await service.passUntil(areSo, withinMs).catch((error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
      });
      return last;
    },
    attempts: async (webhookId) =>
      (await admin<{ data: ShownAttempt[] }>(service, `/webhooks/${webhookId}/attempts`)).data,
    set,
    async stop() {
      await service.close();
      for (const each of receivers) await each.close();
      dns.close();
    },
  };
}

/** The step in which time passes until the next attempt. */
const STRIDE_MS = 1_000;

/** How long nothing happens to these events; 0 if one is ready or under way. */
function restOf(events: readonly ShownWebhook[], now: number): number {
  if (events.some(({ state }) => state === "leased" || state === "ready")) return 0;
  const due = events.flatMap(({ next_attempt_at: at }) => (at === undefined ? [] : Date.parse(at) - now));
  return due.length === 0 ? 0 : Math.max(0, Math.min(STRIDE_MS, ...due));
}

/** Lets a service deliver to `*.hooks.test` on this machine. */
export async function allowHooks(service: Parameters<typeof admin>[0], dnsServer: string): Promise<void> {
  const values = {
    dns_servers: dnsServer,
    webhook_allowed_ranges: "127.0.0.0/8",
    webhook_ca: hooksTls.ca,
  };
  await admin(service, "/settings", values, "PUT");
}

export async function newestSecret(service: Parameters<typeof admin>[0]): Promise<string> {
  const path = `/webhooks/secret?account_id=${service.sandbox.account_id}`;
  const { secrets } = await admin<{ secrets: { secret: string }[] }>(service, path);
  return secrets[0]!.secret;
}

export async function sendSms(service: Parameters<typeof send>[0], more: Json): Promise<string> {
  const { status, body } = await send(service, {
    apiKey: service.sandbox.api_key,
    path: "/v1/sms/messages",
    body: { to: "+919812345678", dlt_template_id: "1107160000000000001", ...more },
  });
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
  return String(body.message_id);
}
