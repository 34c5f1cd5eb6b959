import { afterEach, expect, test } from "bun:test";
import {
  type FakeSmtp,
  type FakeSmtpOptions,
  type RawScript,
  startFakeSmtp,
  startRawSmtp,
} from "../../../../test/fakes/fake-smtp.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import type { EmailContent, Part } from "../../../core/message.ts";
import type { Channel, ChannelStatus, OutgoingEmail } from "../../channel.ts";
import { smtpConnectorKind } from "./smtp-connector.ts";

const CONTENT: EmailContent = {
  channel: "email",
  from: { email: "shop@acme.test", name: "Acme" },
  to: [{ email: "ann@example.test", name: "Ann" }],
  subject: "Your order",
  bodyText: "Hello",
};

const NEVER = new AbortController().signal;

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function fake(options: FakeSmtpOptions = {}): Promise<FakeSmtp> {
  const server = await startFakeSmtp(options);
  cleanups.push(server.close);
  return server;
}

async function raw(script: RawScript) {
  const server = await startRawSmtp(script);
  cleanups.push(server.close);
  return server;
}

function connector(port: number, config: Record<string, unknown> = {}, secrets: Record<string, string> = {}) {
  return {
    id: "c1",
    name: "relay",
    kind: "smtp",
    config: { host: "127.0.0.1", port, ...config },
    secrets,
    isEnabled: true,
    createdAt: 0,
  };
}

/** A channel that has started; `became` waits for a state. */
function open(port: number, config: Record<string, unknown> = {}, secrets: Record<string, string> = {}) {
  const clock = createHeldClock();
  const seen: ChannelStatus[] = [];
  let look = () => {};
  const channel: Channel = smtpConnectorKind.open(connector(port, config, secrets), {
    clock,
    random: () => 0.5,
    log: { info() {}, warn() {}, debug() {} },
    onSlots: () => look(),
    onReceipts: async () => {},
    onStatus(status) {
      seen.push(status);
      look();
    },
  });
  channel.start();
  cleanups.push(() => channel.stop());
  const became = (state: ChannelStatus["state"]) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (channel.status().state === state && (state !== "up" || channel.freeSlots() > 0)) resolve();
      };
      look();
    });
  return { channel, clock, seen, became };
}

async function openUp(
  port: number,
  config: Record<string, unknown> = {},
  secrets: Record<string, string> = {},
) {
  const opened = open(port, config, secrets);
  await opened.became("up");
  return opened;
}

let nextId = 1;

function email(changes: Partial<EmailContent> = {}, more: Partial<OutgoingEmail> = {}): OutgoingEmail {
  const content = { ...CONTENT, ...changes };
  const people = [...content.to, ...(content.cc ?? []), ...(content.bcc ?? [])];
  return {
    channel: "email",
    messageId: `01927a3e-0000-7000-8000-${String(nextId++).padStart(12, "0")}`,
    accountId: "a1",
    parts: people.map((person): Part => ({ status: "pending", address: person.email })),
    attempt: 1,
    remainingMs: 3_600_000,
    createdAt: Date.UTC(2026, 0, 2),
    content,
    ...more,
  };
}

test("a message goes to all its recipients in one envelope, and a relay's 250 is sent, not delivered", async () => {
  const server = await fake();
  const { channel } = await openUp(server.port);
  const message = email({
    cc: [{ email: "cc@example.test" }],
    bcc: [{ email: "hidden@example.test" }],
    bodyHtml: "<p>Hello</p>",
  });
  const outcome = await channel.send(message, NEVER);
  const sent = { kind: "sent", providerMessageIds: [], delivered: false } as const;
  expect(outcome.parts).toEqual([sent, sent, sent]);
  expect(outcome.countsAsAttempt).toBe(true);
  expect(outcome.detail).toMatchObject({ recipients: 3, tls: false, queueId: "Q1" });
  const [mail] = server.received;
  expect(mail?.from).toBe("shop@acme.test");
  expect(mail?.to).toEqual(["ann@example.test", "cc@example.test", "hidden@example.test"]);
  expect(mail?.raw).not.toMatch(/hidden|bcc/i);
  expect(mail?.parsed.messageId).toBe(`<${message.messageId}@acme.test>`);
  expect(mail?.parsed.html?.trim()).toBe("<p>Hello</p>");
});
