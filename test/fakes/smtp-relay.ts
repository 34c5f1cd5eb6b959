/** An SMTP channel that is open on a server of the test's, and emails to send over it. */

import { afterEach } from "bun:test";
import type { Channel, ChannelDeps, ChannelStatus, OutgoingEmail } from "../../src/channels/channel.ts";
import { smtpConnectorKind } from "../../src/channels/email/smtp/smtp-connector.ts";
import type { EmailContent, Part } from "../../src/core/messages/message.ts";
import type { Connector } from "../../src/core/records/accounts.ts";
import { channelDeps } from "./channel-deps.ts";
import {
  type FakeSmtp,
  type FakeSmtpOptions,
  type RawScript,
  type RawSmtp,
  startFakeSmtp,
  startRawSmtp,
} from "./fake-smtp.ts";
import { createHeldClock, type HeldClock } from "./held-clock.ts";

export interface SmtpRelay {
  readonly channel: Channel;
  readonly clock: HeldClock;
  /** Every change of state, in order. */
  readonly seen: readonly ChannelStatus[];
  /** Resolves when the channel is in the state; for `up`, when it has free slots too. */
  readonly became: (state: ChannelStatus["state"]) => Promise<void>;
}

export function smtpConnector(
  port: number,
  config: Record<string, unknown> = {},
  secrets: Record<string, string> = {},
): Connector {
  const base = { id: "c1", name: "relay", kind: "smtp", isEnabled: true, createdAt: 0 };
  return { ...base, config: { host: "127.0.0.1", port, ...config }, secrets };
}

/** Started, unless told otherwise; its clock is held, its chance is always a half. */
export function openSmtpRelay(
  connector: Connector,
  { isStarted = true, ...more }: { isStarted?: boolean } & Partial<ChannelDeps> = {},
): SmtpRelay {
  const clock = createHeldClock();
  const seen: ChannelStatus[] = [];
  const waiting = new Set<() => void>();
  const look = () => {
    for (const one of [...waiting]) one();
  };
  const onStatus = (status: ChannelStatus) => {
    seen.push(status);
    look();
  };
  const channel = smtpConnectorKind.open(connector, channelDeps({ clock, onSlots: look, ...more, onStatus }));
  if (isStarted) channel.start();
  const became = (state: ChannelStatus["state"]) =>
    new Promise<void>((resolve) => {
      const tryNow = () => {
        if (channel.status().state !== state || (state === "up" && channel.freeSlots() === 0)) return;
        waiting.delete(tryNow);
        resolve();
      };
      waiting.add(tryNow);
      tryNow();
    });
  return { channel, clock, seen, became };
}

type Config = Record<string, unknown>;

export interface Relays {
  /** Adds to what is closed behind the test, where what was opened last goes first. */
  closeLater(close: () => Promise<void>): void;
  fake(options?: FakeSmtpOptions): Promise<FakeSmtp>;
  raw(script: RawScript, port?: number): Promise<RawSmtp>;
  relay(port: number, config?: Config, secrets?: Record<string, string>): SmtpRelay;
  /** Resolves once it is up. */
  upRelay(port: number, config?: Config): Promise<SmtpRelay>;
}

/** To be called where tests are defined: servers, and channels to them, which are closed behind each test. */
export function withRelays(): Relays {
  const closings: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close();
  });
  const closed = <T extends Pick<FakeSmtp, "close">>(server: T): T => {
    closings.push(server.close);
    return server;
  };
  const relay: Relays["relay"] = (port, config, secrets) => {
    const opened = openSmtpRelay(smtpConnector(port, config, secrets));
    closings.push(opened.channel.stop);
    return opened;
  };
  return {
    closeLater: (close) => void closings.push(close),
    fake: async (options) => closed(await startFakeSmtp(options)),
    raw: async (script, port) => closed(await startRawSmtp(script, port)),
    relay,
    async upRelay(port, config) {
      const opened = relay(port, config);
      await opened.became("up");
      return opened;
    },
  };
}

let lastId = 0;

/** All its recipients are pending, unless `more` says otherwise. */
export function outgoingEmail(
  changes: Partial<EmailContent> = {},
  more: Partial<OutgoingEmail> = {},
): OutgoingEmail {
  const content: EmailContent = {
    channel: "email",
    from: { email: "shop@acme.test", name: "Acme" },
    to: [{ email: "ann@example.test", name: "Ann" }],
    subject: "Your order",
    bodyText: "Hello",
    ...changes,
  };
  const people = [...content.to, ...(content.cc ?? []), ...(content.bcc ?? [])];
  return {
    channel: "email",
    messageId: `01927a3e-0000-7000-8000-${String(++lastId).padStart(12, "0")}`,
    accountId: "01927a3e-0000-7000-8000-aaaaaaaaaaaa",
    parts: people.map(({ email }): Part => ({ status: "pending", address: email })),
    remainingMs: 3_600_000,
    createdAt: Date.UTC(2026, 0, 2),
    content,
    ...more,
  };
}
