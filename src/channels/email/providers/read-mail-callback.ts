import { parseJson } from "../../../core/body/parse-json.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import type { CallbackReading, CallbackRequest, Web } from "../../channel.ts";
import { type MailEvent, objectOf, textOf, toReceipt } from "./mail-event.ts";
import type { GivenHeader, MailProvider } from "./mail-provider.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { sesEvents } from "./ses.ts";
import { type Certificates, isSignedBySns, snsType, snsUrl } from "./sns.ts";

/** Providers whose webhooks are read. SES sends them through SNS, and includes the headers that a mail was sent with. */
export const MAIL_PROVIDERS = ["ses", "postmark", "sendgrid", "resend"] as const;

export type MailProviderName = (typeof MAIL_PROVIDERS)[number];

const PROVIDERS: Readonly<Record<Exclude<MailProviderName, "ses">, MailProvider>> = {
  postmark,
  sendgrid,
  resend,
};

/** The secret by which a provider's webhook is verified, if the provider has one. */
export const WEBHOOK_SECRET = "webhook_secret";

/** Reads a provider's webhook. Refuses it unless it proves that it is the provider's. */
export async function readMailCallback(
  connector: Connector,
  request: CallbackRequest,
  web: Web,
): Promise<CallbackReading> {
  const { provider, sns_topic_arn: topic } = connector.config as ProviderSettings;
  const body = parseJson(request.body);
  if (provider === undefined) return refused(400, "this connector reads no callbacks");
  if (body === undefined) return refused(400, "cannot be read");
  if (provider === "ses") return readSns(connector, { message: objectOf(body), topic, request, web });
  const known = PROVIDERS[provider];
  const secret = connector.secrets[WEBHOOK_SECRET] ?? "";
  if (!known.isAuthentic(request, { secret })) return refused(401, "the signature is missing or wrong");
  if (isOutOfTime(known, request))
    return { kind: "refused", status: 401, reason: "the signature is of another time", isOutOfTime: true };
  return toReading(connector, known.events(body), request);
}

/** Somebody may send again what he has overheard. */
function isOutOfTime(
  { signedTime }: Pick<MailProvider, "signedTime">,
  { headers, receivedAt }: CallbackRequest,
): boolean {
  if (!signedTime) return false;
  const offMs = Math.abs(receivedAt - Number(headers.get(signedTime.header)) * 1_000);
  return !(offMs <= signedTime.maxOffMs);
}

interface SnsDelivery {
  readonly message: ReturnType<typeof objectOf>;
  readonly topic: string | undefined;
  readonly request: CallbackRequest;
  readonly web: Web;
}

const certificates: Certificates = new Map();

/** Confirms a subscription only to the configured topic, and only at a URL of SNS itself. */
async function readSns(
  connector: Connector,
  { message, topic, request, web }: SnsDelivery,
): Promise<CallbackReading> {
  const type = snsType(message);
  if (!type) return refused(400, "this is not a message of SNS");
  if (textOf(message.TopicArn) !== topic)
    return refused(401, "the message is of another topic than sns_topic_arn");
  const isSigned = await isSignedBySns(message, { web, now: request.receivedAt, certificates });
  if (!isSigned) return refused(401, "the signature is missing or wrong");
  if (type === "Notification")
    return toReading(connector, sesEvents(parseJson(textOf(message.Message) ?? "")), request);
  if (type === "SubscriptionConfirmation") {
    const url = snsUrl(textOf(message.SubscribeURL));
    if (url?.searchParams.get("Action") !== "ConfirmSubscription")
      return refused(400, "the message has no URL of SNS to confirm the subscription at");
    if ((await web.get(url)) === undefined) return refused(400, "the subscription could not be confirmed");
  }
  return toReading(connector, [], request);
}

function toReading(
  connector: Connector,
  events: readonly MailEvent[],
  request: CallbackRequest,
): CallbackReading {
  const receipts = events.map((event) => toReceipt(connector.id, event, request.receivedAt));
  return {
    kind: "receipts",
    // A receipt without our id or the provider's matches nothing.
    receipts: receipts.filter(({ target, providerMessageId }) => target || providerMessageId !== ""),
    answer: { status: 200, body: "ok", contentType: "text/plain; charset=utf-8" },
  };
}

function refused(status: 400 | 401, reason: string): CallbackReading {
  return { kind: "refused", status, reason };
}

/** Header fields of a mail that make the provider give our message id back. */
export function providerHeaders(
  provider: MailProviderName | undefined,
  messageId: string,
  given: GivenHeader,
): Readonly<Record<string, string>> {
  return provider === undefined || provider === "ses" ? {} : PROVIDERS[provider].headers(messageId, given);
}

interface ProviderSettings {
  readonly provider?: MailProviderName;
  readonly sns_topic_arn?: string;
}

/** Settings that are missing but needed to verify the provider's webhooks, by field. */
export function providerProblems({ config, secrets }: Pick<Connector, "config" | "secrets">) {
  const { provider, sns_topic_arn: topic } = config as ProviderSettings;
  if (provider === undefined) return {};
  if (provider === "ses")
    return topic === undefined ? { sns_topic_arn: "required if the provider is ses" } : {};
  const wanted = PROVIDERS[provider].needsSecret;
  return wanted === undefined || secrets[WEBHOOK_SECRET] ? {} : { [WEBHOOK_SECRET]: `required: ${wanted}` };
}
