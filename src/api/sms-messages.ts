/** Send SMS and Get SMS. */
import Type from "typebox";
import type { KeyOwner, NewMessage } from "../core/accept-request.ts";
import type { Part } from "../core/message.ts";
import type { Writable } from "../core/present.ts";
import { deferralDetail, mayGoAt } from "../core/promotional-hours.ts";
import { parseSendSms, type SendSms, SendSmsBody } from "../core/send-sms.ts";
import { readSetting } from "../core/settings.ts";
import { acceptMessages } from "./accept-messages.ts";
import type { Answer, Answered } from "./answer.ts";
import { callerOf } from "./caller.ts";
import { dryRunSms } from "./dry-run.ts";
import { DryRunSms, DryRunSmsBatch } from "./dry-run-resource.ts";
import type { Call, Endpoint } from "./endpoint.ts";
import { messageNotFound } from "./errors.ts";
import type { MessageDeps } from "./message-deps.ts";
import { shownMessageId } from "./message-id.ts";
import { refuseSms } from "./refuse-sms.ts";
import { limitedRequest } from "./sending-limit.ts";
import { planSms, type SmsPlan } from "./sms-plan.ts";
import {
  AcceptedSms,
  AcceptedSmsBatch,
  acceptedSmsJson,
  SmsMessage,
  smsResourceJson,
} from "./sms-resource.ts";
import { windowEnd } from "./sms-window.ts";
import { type MaybePromise, whenReady } from "./when-ready.ts";

const MAX_BODY_BYTES = 1024 * 1024;

export function smsEndpoints(deps: MessageDeps): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v1/sms/messages",
      aliases: ["/v1/sms/send"],
      operation: "sendSms",
      summary: "Send an SMS to one recipient or to a batch",
      tag: "SMS",
      auth: "api-key",
      idempotent: true,
      request: { schema: SendSmsBody, maxBytes: MAX_BODY_BYTES },
      responses: {
        200: {
          description: "With `dry_run`: what would become of the request. Nothing was stored or sent.",
          schema: Type.Union([DryRunSms, DryRunSmsBatch]),
        },
        202: {
          description: "Accepted, durably. A batch (`to` is an array) is answered with `messages`.",
          schema: Type.Union([AcceptedSms, AcceptedSmsBatch]),
        },
      },
      handle: (call) => sendSms(deps, call),
    },
    {
      method: "GET",
      path: "/v1/sms/messages/{message_id}",
      operation: "getSms",
      summary: "Read an SMS and its status",
      tag: "SMS",
      auth: "api-key",
      responses: {
        200: { description: "The message.", schema: SmsMessage },
        404: { description: "`message not found`: unknown, or older than 7 days." },
      },
      handle: (call) => getSms(deps, call),
    },
  ];
}

function sendSms(deps: MessageDeps, call: Call): MaybePromise<Answered> {
  const caller = callerOf(call);
  const parsed = parseSendSms(call.body?.json, { mode: caller.account.mode, now: call.now });
  if ("errors" in parsed) return refuseSms(deps.directory, call);
  const request = parsed.value;
  if (request.isDryRun) return dryRunSms(deps, { caller, request, now: call.now });
  const planned = planSms(deps.directory, { caller, request, now: call.now });
  return whenReady(planned, (plan) => acceptSms(deps, call, { request, plan }));
}

interface PlannedSms {
  readonly request: SendSms;
  readonly plan: SmsPlan;
}

function acceptSms(deps: MessageDeps, call: Call, { request, plan }: PlannedSms): Promise<Answered> {
  const caller = callerOf(call);
  const making = { deps, caller, now: call.now, expiresAt: windowEnd(request, caller, call.now) };
  const { messages, body } = request.isBatch
    ? makeBatch(request, plan, { ...making, isOnce: sendsRepeatsOnce(caller) })
    : makeSingle(request, plan, making);
  const flow = messages.length === 1 ? "single" : "batch";
  const limited = limitedRequest(caller, plan.content, call.now);
  return acceptMessages(
    deps.intake,
    { accountId: caller.account.id, flow, content: plan.content, messages, ...(limited && { limited }) },
    { call, operation: "sendSms", body },
  );
}

interface Made {
  readonly messages: readonly NewMessage[];
  /** The answer. */
  readonly body: string;
}

interface Making {
  readonly deps: MessageDeps;
  readonly caller: KeyOwner;
  readonly now: number;
  readonly expiresAt: number;
}

function makeSingle(request: SendSms, plan: SmsPlan, making: Making): Made {
  const message = toMessage(request, plan, { ...making, index: 0 });
  return { messages: [message], body: acceptedSmsJson(message, making.deps.createdAtOf(message.id)) };
}

/** `isOnce`: a number that is repeated shares the message of its first mention. */
function makeBatch(request: SendSms, plan: SmsPlan, making: Making & { isOnce: boolean }): Made {
  const { deps, isOnce } = making;
  const messages: NewMessage[] = [];
  const answers: string[] = [];
  const first = new Map<string, string>();
  for (const [index, recipient] of request.to.entries()) {
    let answer = isOnce ? first.get(recipient) : undefined;
    if (answer === undefined) {
      const message = toMessage(request, plan, { ...making, index });
      answer = acceptedSmsJson(message, deps.createdAtOf(message.id));
      messages.push(message);
      first.set(recipient, answer);
    }
    answers.push(answer);
  }
  return { messages, body: `{"messages":[${answers.join(",")}]}` };
}

/** The message of entry `index` of `to`. */
function toMessage(request: SendSms, plan: SmsPlan, making: Making & { index: number }): NewMessage {
  const { deps, index, expiresAt, now } = making;
  const { scheduleAt } = request;
  const recipient = request.to[index] ?? "";
  const jobs = [{ queue: plan.queues[index] ?? "" }];
  const message: Writable<NewMessage> = {
    id: deps.ids(),
    recipient,
    status: scheduleAt === undefined ? "queued" : "scheduled",
    parts: NO_PARTS,
    expiresAt,
    jobs,
  };
  if (scheduleAt !== undefined) message.dueAt = scheduleAt;
  if (plan.content.category === "promotional") defer(message, scheduleAt ?? now, { plan, making });
  return message;
}

/** A promotional message waits for the day, or for the end of its window where that comes before. */
function defer(
  message: Writable<NewMessage>,
  dueAt: number,
  { plan, making }: { readonly plan: SmsPlan; readonly making: Making },
): void {
  const { account, settings } = making.caller;
  const promotion = { accountMode: account.mode, settings, content: plan.content };
  const opensAt = mayGoAt(promotion, message.recipient, dueAt);
  if (opensAt === dueAt) return;
  message.dueAt = Math.min(opensAt, message.expiresAt);
  message.deferral = deferralDetail({ settings }, opensAt);
}

/** Segments are counted when the text is rendered for its first attempt. */
const NO_PARTS: readonly Part[] = [];

function sendsRepeatsOnce({ settings }: KeyOwner): boolean {
  return readSetting(settings, "batch_duplicates") === "once";
}

async function getSms({ intake }: MessageDeps, call: Call): Promise<Answer> {
  const id = shownMessageId(call.params.message_id, call.now);
  const accountId = callerOf(call).account.id;
  const message = id === undefined ? undefined : await intake.findMessage({ accountId, channel: "sms", id });
  if (message?.content.channel !== "sms") throw messageNotFound();
  return { status: 200, json: smsResourceJson(message, message.content) };
}
