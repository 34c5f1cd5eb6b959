/** Outbound HTTP on a clock that is held, with a name server and a receiver of its own. */
import { Resolver } from "node:dns/promises";
import {
  createOutboundHttp,
  type OutboundHttp,
  type PostOutcome,
} from "../../src/webhooks/http/outbound-http.ts";
import { type FakeDns, startFakeDns } from "./fake-dns.ts";
import {
  type FakeWebhookReceiver,
  type ReceiverOptions,
  startFakeWebhookReceiver,
} from "./fake-webhook-receiver.ts";
import { createHeldClock, type HeldClock } from "./held-clock.ts";
import { hooksTls } from "./hooks-tls.ts";

export interface OutboundRig {
  readonly clock: HeldClock;
  readonly dns: FakeDns;
  readonly receiver: FakeWebhookReceiver;
  readonly http: OutboundHttp;
  /** To the receiver, unless told otherwise. */
  post(url?: string, signal?: AbortSignal): Promise<PostOutcome>;
  stop(): Promise<void>;
}

export interface RigOptions extends ReceiverOptions {
  /** CIDR ranges; `127.0.0.0/8` by default. */
  readonly allowed?: readonly string[];
  readonly ca?: string;
}

/** `hooks.test` and every name below it lead to 127.0.0.1. */
export async function startOutboundRig(options: RigOptions = {}): Promise<OutboundRig> {
  const clock = createHeldClock();
  const dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  const receiver = await startFakeWebhookReceiver({ now: clock.now, ...options });
  const resolver = createForgetfulResolver(dns.address);
  const http = createOutboundHttp({
    clock,
    openResolver: () => resolver,
    allowed: options.allowed ?? ["127.0.0.0/8"],
    ca: options.ca ?? hooksTls.ca,
  });
  return {
    clock,
    dns,
    receiver,
    http,
    post: (url = receiver.url(), signal = new AbortController().signal) =>
      http.post({
        url,
        headers: { "content-type": "application/json" },
        body: "{}",
        signal,
      }),
    async stop() {
      resolver.cancel();
      http.close();
      await receiver.close();
      dns.close();
    },
  };
}

/** One that keeps nothing: c-ares remembers for an hour that a name has no such record, whatever the server says. */
function createForgetfulResolver(address: string) {
  const made = new Set<Resolver>();
  const ask = <T>(question: (resolver: Resolver) => Promise<T>) => {
    const resolver = new Resolver({ timeout: 60_000, tries: 1 });
    resolver.setServers([address]);
    made.add(resolver);
    return question(resolver).finally(() => made.delete(resolver));
  };
  return {
    resolve4: (name: string) => ask((resolver) => resolver.resolve4(name)),
    resolve6: (name: string) => ask((resolver) => resolver.resolve6(name)),
    cancel() {
      for (const resolver of made) resolver.cancel();
    },
  };
}
