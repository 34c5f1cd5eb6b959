import type { OutgoingEmail, OutgoingMessage, OutgoingSms } from "../../channels/channel.ts";
import { domainOf } from "../../core/email/email-address.ts";
import type { MessageError } from "../../core/messages/message.ts";
import { present } from "../../core/present.ts";
import { type ClaimedJob, hasOpenPart, holdsUnconfirmed } from "../../core/queue/claimed-job.ts";
import { readSetting, type StoredSettings } from "../../core/records/settings.ts";
import { sentFrom } from "../../core/sms/sent-from.ts";
import { renderSms } from "../../core/sms/sms-text.ts";
import type { Skipped } from "./skip-suppressed.ts";

/** The result of preparing a claimed job. */
export type Prepared =
  /** It can be sent. `skipped`: the outcomes of recipients that it does not go to. */
  | { readonly kind: "ready"; readonly message: OutgoingMessage; readonly skipped?: Skipped }
  /** It can never be sent. */
  | { readonly kind: "impossible"; readonly error: MessageError }
  /** All parts still open may have been sent already, and the account wants nothing sent twice. */
  | { readonly kind: "held" };

/** What the sender's domain adds to an email. */
export type SenderDomain = Pick<OutgoingEmail, "dkim" | "returnPathHost">;

/** Finds the sender's domain of an account. `isVerified`: the account may send from it. */
export type FindSenderDomain = (
  accountId: string,
  domain: string,
) => Promise<SenderDomain & { readonly isVerified: boolean }>;

/** Turns a claimed job into what a channel is given. Returns no promise for an SMS: most messages are SMS, and awaiting costs. */
export function toOutgoing(
  job: ClaimedJob,
  remainingMs: number,
  findSenderDomain: FindSenderDomain,
): Prepared | Promise<Prepared> {
  const { content, progress } = job;
  const only = partsToSend(job);
  if (only?.length === 0) return { kind: "held" };
  const shared = {
    messageId: job.messageId,
    accountId: job.accountId,
    parts: progress.parts,
    ...(only && { only }),
    remainingMs,
    createdAt: job.createdAt,
  };
  if (content.channel === "sms") {
    const { claim, flow, recipient: to } = job;
    const from = sentFrom(content);
    const sms: OutgoingSms = {
      ...shared,
      channel: "sms",
      claim,
      flow,
      to,
      content,
      ...(from !== undefined && { from }),
    };
    return withText(sms, job);
  }
  return findSenderDomain(job.accountId, domainOf(content.from.email)).then(({ isVerified, ...sender }) => {
    if (!isVerified && job.accountMode === "live") return { kind: "impossible", error: NOT_VERIFIED };
    return { kind: "ready", message: { ...shared, channel: "email", content, ...sender } };
  });
}

/** The domain was deleted or lapsed after the message was accepted. It may be somebody else's now, and the mail unverifiable. */
const NOT_VERIFIED: MessageError = {
  code: "domain_not_verified",
  message: "the sender's domain is no longer verified",
};

/** Indexes of the open parts that may be sent; `undefined` before an SMS's segments have been counted. */
function partsToSend(job: ClaimedJob): readonly number[] | undefined {
  if (job.progress.parts.length === 0) return undefined;
  const holds = holdsUnconfirmed(job);
  return job.progress.parts.flatMap((part, index) =>
    hasOpenPart(job, index) && !(holds && part.status === "unconfirmed") ? [index] : [],
  );
}

function withText(message: OutgoingSms, { settings }: ClaimedJob): Prepared {
  const { text, variables } = message.content;
  if (text === undefined) return { kind: "ready", message };
  const by = (given: StoredSettings) =>
    renderSms(text, { ...present({ variables }), settings: given, to: [message.to] });
  const rendered = by(settings);
  if ("missing" in rendered) {
    const error = {
      code: "template",
      message: `the template needs variables ${rendered.missing.join(", ")}`,
    };
    return { kind: "impossible", error };
  }
  const isRest = message.only !== undefined && message.only.length < message.parts.length;
  const other = isRest ? by(transliteratedOtherwise(settings)) : rendered;
  const otherText = "text" in other && other.text !== rendered.text ? other.text : undefined;
  return { kind: "ready", message: { ...message, text: rendered.text, ...present({ otherText }) } };
}

/** What the settings may have been when the segments that were sent were made. */
function transliteratedOtherwise(settings: StoredSettings): StoredSettings {
  return { ...settings, sms_transliterate: readSetting(settings, "sms_transliterate") ? "false" : "true" };
}
