/** Send SMS. */
import Type from "typebox";
import type { AcceptRequest, NewMessage } from "../../core/messages/accept-request.ts";
import type { Part } from "../../core/messages/message.ts";
import type { KeyOwner } from "../../core/records/api-key.ts";
import { readSetting } from "../../core/records/settings.ts";
import { deferralDetail, earliestSendAt } from "../../core/sms/promotional-hours.ts";
import { parseSendSms, type SendSms, SendSmsBody } from "../../core/sms/send-sms.ts";
import type { Writable } from "../../core/writable.ts";
import type { Answered } from "../answer.ts";
import { callerOf } from "../caller.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { idempotencyKey } from "../idempotency.ts";
import { limitedRequest } from "../limits/sending-limit.ts";
import { acceptMessages } from "../messages/accept-messages.ts";
import type { MessageDeps } from "../messages/message-deps.ts";
import type { MaybePromise } from "../when-ready.ts";
import { dryRunSms } from "./dry-run.ts";
import { DryRunSms, DryRunSmsBatch } from "./dry-run-resource.ts";
import { refuseSms } from "./refuse-sms.ts";
import { planSms, type SmsPlan } from "./sms-plan.ts";
import { AcceptedSms, AcceptedSmsBatch, acceptedSmsJson } from "./sms-resource.ts";
import { windowEnd } from "./sms-window.ts";

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
          description:
            "With `dry_run`: what would become of the request, and nothing was stored or sent. The schema has what a 202 has too, " +
            "for clients that are generated to know one answer.",
          // Many generators take the first success for the only one: their clients would take each accepted message for a fault.
          schema: Type.Union([AcceptedSms, AcceptedSmsBatch, DryRunSms, DryRunSmsBatch]),
        },
        202: {
          description: "Accepted, durably. A batch (`to` is an array) is answered with `messages`.",
          schema: Type.Union([AcceptedSms, AcceptedSmsBatch]),
        },
      },
      handle: (call) => sendSms(deps, call),
    },
  ];
}

function sendSms(deps: MessageDeps, call: Call): MaybePromise<Answered> {
  const caller = callerOf(call);
  const parsed = parseSendSms(call.body?.json, { mode: caller.account.mode, now: call.now });
  if ("errors" in parsed) return refuseSms(deps.directory, call);
  const request = parsed.value;
  if (request.isDryRun) {
    // Only for its refusal: a malformed key is refused here as it would be when sending.
    idempotencyKey(call.headers);
    return dryRunSms(deps, { caller, request, now: call.now });
  }
  const planned = planSms(deps.directory, { caller, request, now: call.now });
  return planned instanceof Promise
    ? acceptPlanned(deps, call, { request, planned })
    : acceptSms(deps, call, { request, plan: planned });
}

async function acceptPlanned(
  deps: MessageDeps,
  call: Call,
  { request, planned }: { readonly request: SendSms; readonly planned: Promise<SmsPlan> },
): Promise<Answered> {
  return acceptSms(deps, call, { request, plan: await planned });
}

interface PlannedSms {
  readonly request: SendSms;
  readonly plan: SmsPlan;
}

function acceptSms(deps: MessageDeps, call: Call, { request, plan }: PlannedSms): Promise<Answered> {
  const caller = callerOf(call);
  const { now } = call;
  const making = { deps, caller, request, plan, now, expiresAt: windowEnd(request, caller, now) };
  const { messages, body } = request.isBatch ? makeBatch(making) : makeSingle(making);
  const flow = messages.length === 1 ? "single" : "batch";
  const { content } = plan;
  const accepting: Writable<Omit<AcceptRequest, "idempotency">> = {
    accountId: caller.account.id,
    flow,
    content,
    messages,
  };
  const limited = limitedRequest(caller, { content, to: request.to }, now);
  if (limited) accepting.limited = limited;
  const { scheduleAt } = request;
  return acceptMessages(deps.intake, accepting, { call, body, scheduleAt });
}

interface Made {
  readonly messages: readonly NewMessage[];
  /** The JSON of the answer. */
  readonly body: string;
}

interface Making extends PlannedSms {
  readonly deps: MessageDeps;
  readonly caller: KeyOwner;
  readonly now: number;
  readonly expiresAt: number;
}

function makeSingle(making: Making): Made {
  const message = toMessage(0, making);
  return { messages: [message], body: acceptedSmsJson(message, making.deps.createdAtOf(message.id)) };
}

/** If the account's settings say so, a number that is given again shares the message of its first mention. */
function makeBatch(making: Making): Made {
  const { deps, request, caller } = making;
  const isOnce = sendsRepeatsOnce(caller);
  const messages: NewMessage[] = [];
  const answers: string[] = [];
  const first = new Map<string, string>();
  for (const [index, recipient] of request.to.entries()) {
    let answer = isOnce ? first.get(recipient) : undefined;
    if (answer === undefined) {
      const message = toMessage(index, making);
      answer = acceptedSmsJson(message, deps.createdAtOf(message.id));
      messages.push(message);
      first.set(recipient, answer);
    }
    answers.push(answer);
  }
  return { messages, body: `{"messages":[${answers.join(",")}]}` };
}

/** The message for entry `index` of `to`. */
function toMessage(index: number, making: Making): NewMessage {
  const { deps, request, plan, expiresAt, now } = making;
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
  if (plan.content.category === "promotional") defer(message, scheduleAt ?? now, making);
  return message;
}

/** A promotional message waits for the permitted hours; at the end of its window at the latest it is due, and expires. */
function defer(
  message: Writable<NewMessage>,
  dueAt: number,
  { plan, caller: { account, settings } }: Making,
): void {
  const promotion = { accountMode: account.mode, settings, content: plan.content };
  const opensAt = earliestSendAt(promotion, message.recipient, dueAt);
  if (opensAt === dueAt) return;
  message.dueAt = Math.min(opensAt, message.expiresAt);
  message.deferral = deferralDetail({ settings }, opensAt);
}

/** The parts of a new SMS: its segments are counted when the text is rendered for the first attempt. */
const NO_PARTS: readonly Part[] = [];

function sendsRepeatsOnce({ settings }: KeyOwner): boolean {
  return readSetting(settings, "batch_duplicates") === "once";
}
