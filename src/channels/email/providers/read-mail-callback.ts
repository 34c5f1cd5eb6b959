import type { Connector } from "../../../core/records/accounts.ts";
import type { CallbackReading, CallbackRequest, Web } from "../../channel.ts";
import { type MailEvent, objectOf, textOf, toReceipt } from "./mail-event.ts";
import type { MailProvider } from "./mail-provider.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { sesEvents } from "./ses.ts";
import { type Certificates, isSignedBySns, snsType, snsUrl } from "./sns.ts";

/** Those whose webhooks are read. SES speaks through SNS, and its mails bring back what they were sent with. */
export const MAIL_PROVIDERS = ["ses", "postmark", "sendgrid", "resend"] as const;

export type MailProviderName = (typeof MAIL_PROVIDERS)[number];

const PROVIDERS: Readonly<Record<Exclude<MailProviderName, "ses">, MailProvider>> = {
  postmark,
  sendgrid,
  resend,
};

/** The secret that proves a provider's webhook, where it has one. */
export const WEBHOOK_SECRET = "webhook_secret";

/** Header fields by which the provider gives a mail's id back. */
export function providerHeaders(
  provider: MailProviderName | undefined,
  messageId: string,
): Readonly<Record<string, string>> {
  return provider === undefined || provider === "ses" ? {} : PROVIDERS[provider].headers(messageId);
}

interface ProviderSettings {
  readonly provider?: MailProviderName;
  readonly sns_topic_arn?: string;
}

/** What is missing for the provider's webhooks to be believed, by field. */
export function providerProblems({ config, secrets }: Pick<Connector, "config" | "secrets">) {
  const { provider, sns_topic_arn: topic } = config as ProviderSettings;
  if (provider === undefined) return {};
  if (provider === "ses")
    return topic === undefined ? { sns_topic_arn: "required where the provider is ses" } : {};
  const wanted = PROVIDERS[provider].needsSecret;
  return wanted === undefined || secrets[WEBHOOK_SECRET] ? {} : { [WEBHOOK_SECRET]: `required: ${wanted}` };
}

/** Reads a provider's webhook: proof first, then what it says. */
export async function readMailCallback(
  connector: Connector,
  request: CallbackRequest,
  web: Web,
): Promise<CallbackReading> {
  const { provider, sns_topic_arn: topic } = connector.config as ProviderSettings;
  const body = parse(request.body);
  if (provider === undefined) return refused(400, "this connector reads no callbacks");
  if (body === undefined) return refused(400, "cannot be read");
  if (provider === "ses") return readSns(connector, { message: objectOf(body), topic, request, web });
  const known = PROVIDERS[provider];
  const secret = connector.secrets[WEBHOOK_SECRET] ?? "";
  if (!known.isAuthentic(request, { secret })) return refused(401, "the signature is missing or wrong");
  return told(connector, known.events(body), request);
}

interface SnsDelivery {
  readonly message: ReturnType<typeof objectOf>;
  readonly topic: string | undefined;
  readonly request: CallbackRequest;
  readonly web: Web;
}

const certificates: Certificates = new Map();

/** A subscription is confirmed only for the topic that is configured, and only at SNS itself. */
async function readSns(
  connector: Connector,
  { message, topic, request, web }: SnsDelivery,
): Promise<CallbackReading> {
  const type = snsType(message);
  if (!type) return refused(400, "not a message of SNS");
  if (textOf(message.TopicArn) !== topic) return refused(401, "of another topic");
  const isSigned = await isSignedBySns(message, { web, now: request.receivedAt, certificates });
  if (!isSigned) return refused(401, "the signature is missing or wrong");
  if (type === "Notification")
    return told(connector, sesEvents(parse(textOf(message.Message) ?? "")), request);
  if (type === "SubscriptionConfirmation") {
    const url = snsUrl(textOf(message.SubscribeURL));
    if (url?.searchParams.get("Action") !== "ConfirmSubscription") return refused(400, "no way to confirm");
    if ((await web.get(url)) === undefined) return refused(400, "the subscription could not be confirmed");
  }
  return told(connector, [], request);
}

function told(connector: Connector, events: readonly MailEvent[], request: CallbackRequest): CallbackReading {
  const receipts = events.map((event) => toReceipt(connector.id, event, request.receivedAt));
  return {
    kind: "receipts",
    // Without an id of either kind nothing can be matched.
    receipts: receipts.filter(({ target, providerMessageId }) => target || providerMessageId !== ""),
    answer: { status: 200, body: "ok", contentType: "text/plain; charset=utf-8" },
  };
}

function refused(status: 400 | 401, reason: string): CallbackReading {
  return { kind: "refused", status, reason };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
