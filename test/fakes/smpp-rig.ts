/** An SMPP channel on a held clock, and a fake SMSC for it. */

import { randomUUID } from "node:crypto";
import type { Channel, ChannelDeps, ChannelStatus, OutgoingSms } from "../../src/channels/channel.ts";
import { openSmppChannel } from "../../src/channels/sms/smpp/smpp-channel.ts";
import type { SmsContent } from "../../src/core/messages/message.ts";
import type { Receipt } from "../../src/core/messages/outcome.ts";
import type { LateAnswer, LateRefusal } from "../../src/core/receipts/late-answer.ts";
import type { Connector } from "../../src/core/records/accounts.ts";
import { channelDeps } from "./channel-deps.ts";
import { type FakeSmsc, startFakeSmsc } from "./fake-smsc.ts";
import { createHeldClock } from "./held-clock.ts";
import { createSignals } from "./signals.ts";
import type { SmscDial } from "./smsc-dial.ts";

const never = new AbortController().signal;

/** Two segments in GSM-7. */
export const LONG_TEXT = "Hello, this is a long message. ".repeat(6);

const rigs: { close(): Promise<void> }[] = [];

/** For `afterEach`. */
export async function closeSmppRigs(): Promise<void> {
  await Promise.all(rigs.splice(0).map((rig) => rig.close()));
}

interface Log {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly text: string;
}

/** A channel, not started, and the SMSC it is to connect to. */
export async function openSmppRig({
  dial = {},
  config = {},
  tls = false,
  host = "127.0.0.1",
  deps = {},
}: {
  dial?: SmscDial;
  config?: Record<string, unknown>;
  tls?: boolean;
  /** Where the SMSC listens. */
  host?: string;
  deps?: Partial<ChannelDeps>;
} = {}) {
  const smsc = await startFakeSmsc(dial, { tls, host });
  const clock = createHeldClock();
  const statuses: ChannelStatus[] = [];
  const receipts: Receipt[] = [];
  const lateAnswers: (LateAnswer | LateRefusal)[] = [];
  const logs: Log[] = [];
  const signals = createSignals();
  const log = (level: string) => (fields: Record<string, unknown>, text: string) => {
    logs.push({ level, fields, text });
    signals.tell();
  };
  const connector = connectorTo(smsc, config);
  const given = channelDeps({
    clock,
    log: { info: log("info"), warn: log("warn"), debug: log("debug") },
    onSlots: signals.tell,
    onStatus(status) {
      statuses.push(status);
      signals.tell();
    },
    async onReceipts(batch) {
      receipts.push(...batch);
      signals.tell();
    },
    async onLateAnswer(answer) {
      lateAnswers.push(answer);
      signals.tell();
    },
    ...deps,
  });
  const channel = openSmppChannel(connector, given);
  const rig = {
    smsc,
    clock,
    channel,
    connector,
    statuses,
    receipts,
    lateAnswers,
    logs,
    until: signals.until,
    state: (state: ChannelStatus["state"]) => signals.until(() => channel.status().state === state),
    close: async () => {
      await smsc.close();
      const stopping = channel.stop();
      await clock.advance(30_000);
      await stopping;
    },
  };
  rigs.push(rig);
  return rig;
}

/** The same, started and bound. */
export async function openBoundSmppRig(options: Parameters<typeof openSmppRig>[0] = {}) {
  const rig = await openSmppRig(options);
  rig.channel.start();
  await rig.state("up");
  return rig;
}

function connectorTo(smsc: FakeSmsc, config: Record<string, unknown>): Connector {
  return {
    id: "c1",
    name: "test",
    kind: "smpp",
    config: { host: smsc.host, port: smsc.port, system_id: "rider", ...config },
    secrets: { password: "secret" },
    isEnabled: true,
    createdAt: 0,
  };
}

/** A message of one segment, unless told otherwise. */
export function outgoingSms(
  over: Partial<Omit<OutgoingSms, "content">> & { content?: Partial<SmsContent> } = {},
): OutgoingSms {
  return {
    channel: "sms",
    messageId: randomUUID(),
    accountId: "a1",
    claim: 1,
    flow: 0,
    parts: [],
    remainingMs: 3_600_000,
    createdAt: 0,
    to: "+919876543210",
    from: "PSTRDR",
    text: "Hello",
    ...over,
    content: { channel: "sms", ...over.content },
  };
}

export const sendThrough = (channel: Channel, message = outgoingSms()) => channel.send(message, never);
