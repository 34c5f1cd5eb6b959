/** Send Email. */
import { parseSendEmail, readSendEmail, type SendEmail, SendEmailBody } from "../../core/email/send-email.ts";
import type { NewMessage } from "../../core/messages/accept-request.ts";
import type { EmailContent } from "../../core/messages/message.ts";
import { present } from "../../core/present.ts";
import { readSetting } from "../../core/records/settings.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import type { Answered } from "../answer.ts";
import { callerOf } from "../caller.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import { acceptMessages } from "../messages/accept-messages.ts";
import type { MessageDeps } from "../messages/message-deps.ts";
import { judgeEmail, planEmail } from "./email-plan.ts";
import { AcceptedEmail, acceptedEmailJson } from "./email-resource.ts";

const MAX_BODY_BYTES = 10 * 1024 * 1024;

export function emailEndpoints(deps: MessageDeps): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v1/emails/messages",
      aliases: ["/v1/emails/send"],
      operation: "sendEmail",
      summary: "Send an email to up to 50 recipients",
      tag: "Email",
      auth: "api-key",
      idempotent: true,
      request: { schema: SendEmailBody, maxBytes: MAX_BODY_BYTES },
      responses: { 202: { description: "Accepted, durably.", schema: AcceptedEmail } },
      handle: (call) => sendEmail(deps, call),
    },
  ];
}

async function sendEmail(deps: MessageDeps, call: Call): Promise<Answered> {
  const caller = callerOf(call);
  const parsed = parseSendEmail(call.body?.json, call.now);
  if ("errors" in parsed) return refuseEmail(deps, call);
  const request = parsed.value;
  const { parts, jobs } = await planEmail(deps.directory, caller, request);
  const { scheduleAt } = request;
  const message: NewMessage = {
    id: deps.ids(),
    recipient: "",
    status: scheduleAt === undefined ? "queued" : "scheduled",
    parts,
    jobs,
    expiresAt: (scheduleAt ?? call.now) + readSetting(caller.settings, "email_window_hours") * HOUR_MS,
    ...present({ dueAt: scheduleAt }),
  };
  return acceptMessages(
    deps.intake,
    { accountId: caller.account.id, flow: "single", content: toContent(request), messages: [message] },
    { call, body: acceptedEmailJson(message, deps.createdAtOf(message.id)), scheduleAt },
  );
}

/** Refuses a body with bad fields, along with everything that its good fields would be refused for. */
async function refuseEmail({ directory }: MessageDeps, call: Call): Promise<never> {
  const { request, errors } = readSendEmail(call.body?.json ?? {}, call.now);
  await judgeEmail(directory, callerOf(call), { request, errors });
  throw validationFailed(errors.list());
}

function toContent(request: SendEmail): EmailContent {
  const { scheduleAt, ...content } = request;
  return { channel: "email", ...content, ...present({ scheduledAt: scheduleAt }) };
}
