/** What a channel is given: of a service on a held clock, whose chance is always a half, and which does nothing with what it is told. */
import { Resolver } from "node:dns/promises";
import type { ChannelDeps, MailDeps } from "../../src/channels/channel.ts";
import { composeMail } from "../../src/channels/email/mail/compose-mail.ts";
import { createReturnPaths } from "../../src/channels/email/part-address.ts";
import { createNetwork } from "../../src/cli/network/network.ts";
import { createHeldClock } from "./held-clock.ts";

/** The key of its return paths. */
export const RETURN_PATH_KEY = Buffer.alloc(32, 7);

export function channelDeps(over: Partial<ChannelDeps> = {}): ChannelDeps {
  return {
    clock: createHeldClock(),
    random: () => 0.5,
    log: { info() {}, warn() {}, debug() {} },
    isRateUsed: false,
    memory: (make) => make(),
    onSlots() {},
    onStatus() {},
    onReceipts: async () => {},
    onInbound: async () => {},
    onInboundKnown: async () => {},
    async onLateAnswer() {},
    mail: mailDeps(),
    publicUrl: async () => undefined,
    ...over,
  };
}

export function mailDeps(over: Partial<MailDeps> = {}): MailDeps {
  return {
    network: createNetwork(new Resolver()),
    policies: { find: async () => undefined, keep: async () => {} },
    returnPaths: createReturnPaths(RETURN_PATH_KEY),
    composeLarge: composeMail,
    ...over,
  };
}
