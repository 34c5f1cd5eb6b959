/** An MX channel that finds its hosts through a name server of the test's, on the loopback. */

import { Resolver } from "node:dns/promises";
import type { Channel, ChannelDeps, ChannelStatus, MailDeps } from "../../src/channels/channel.ts";
import { mxConnectorKind } from "../../src/channels/email/mx/mx-connector.ts";
import type { Network } from "../../src/channels/network.ts";
import { createNetwork } from "../../src/cli/network/network.ts";
import { channelDeps, mailDeps } from "./channel-deps.ts";
import { type FakeDns, startFakeDns } from "./fake-dns.ts";
import { createHeldClock, type HeldClock } from "./held-clock.ts";
import { testTls } from "./test-tls.ts";

export interface MxRig {
  readonly channel: Channel;
  readonly clock: HeldClock;
  readonly dns: FakeDns;
  readonly statuses: readonly ChannelStatus[];
  readonly logged: readonly string[];
  /** Gives a domain one mail host, at this address of the loopback. */
  host(domain: string, name: string, address?: string): void;
  close(): Promise<void>;
}

export interface MxRigOptions {
  readonly port: number;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly isStarted?: boolean;
  readonly deps?: Partial<ChannelDeps>;
  readonly policies?: MailDeps["policies"];
}

/** Its clock is held, its chance is always a half; all of 127/8 may be connected to, and `testTls.ca` is trusted. */
export async function openMxRig(options: MxRigOptions): Promise<MxRig> {
  const { port, config = {}, isStarted = true, deps, policies } = options;
  const dns = await startFakeDns();
  const clock = createHeldClock();
  const statuses: ChannelStatus[] = [];
  const logged: string[] = [];
  const note = (_: unknown, message: string) => void logged.push(message);
  const channel = mxConnectorKind.open(
    {
      id: "mx1",
      name: "direct",
      kind: "mx",
      config: { port, allowed_ranges: ["127.0.0.0/8"], ca: testTls.ca, ...config },
      secrets: {},
      isEnabled: true,
      createdAt: 0,
    },
    channelDeps({
      clock,
      log: { info: note, warn: note, debug: note },
      mail: mailDeps({ network: networkOf(dns), ...(policies && { policies }) }),
      onStatus: (status) => void statuses.push(status),
      ...deps,
    }),
  );
  if (isStarted) channel.start();
  return {
    channel,
    clock,
    dns,
    statuses,
    logged,
    host(domain, name, address = "127.0.0.1") {
      dns.mx.set(domain, [`10 ${name}`]);
      dns.a.set(name, [address]);
    },
    async close() {
      await channel.stop();
      dns.close();
    },
  };
}

function networkOf(dns: FakeDns): Network {
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });
  resolver.setServers([dns.address]);
  return createNetwork(resolver);
}
