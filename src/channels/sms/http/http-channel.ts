/** The HTTP gateway channel. One SMS is one request and one part: the provider splits it into segments. */
import type { PartOutcome, SendOutcome } from "../../../core/messages/outcome.ts";
import { NOBODY_ELSE } from "../../../core/queue/claimant.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { valueText } from "../../../core/sms/template.ts";
import { withCertificateAdvice } from "../../certificate-advice.ts";
import {
  type Channel,
  type ChannelDeps,
  callbackPath,
  type OutgoingMessage,
  type OutgoingSms,
} from "../../channel.ts";
import { isToBeSent } from "../../is-to-be-sent.ts";
import { type Told, withoutEcho } from "../../without-echo.ts";
import { firstProviderId } from "../first-provider-id.ts";
import { createAvailability } from "./availability.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { CALLBACK_TOKEN, certificateFields, type HttpConfig } from "./http-config.ts";
import { type Judgement, judgeExchange, notTried, refused, TAKEN_OVER } from "./judge-answer.ts";
import { estimateSegments, valuesOf } from "./message-values.ts";
import { type Described, readDescribed } from "./providers.ts";
import { renderRequest } from "./render-request.ts";

/** Added to the time limit of a send. */
const SEND_MARGIN_MS = 1_000;

interface HttpChannel extends Described {
  readonly connector: Connector;
  readonly client: HttpClient;
  readonly deps: ChannelDeps;
}

/** Throws if the connector's configuration is not that of `httpConfigSchema`, or describes nothing. */
export function openHttpChannel(connector: Connector, deps: ChannelDeps): Channel {
  const described = readDescribed(connector);
  if (described instanceof Error) throw described;
  const { config } = described;
  const client = openClient(config, deps.clock);
  const cutOff = new AbortController();
  const availability = createAvailability({ ...deps, maxInFlight: config.max_in_flight });
  const channel: HttpChannel = { ...described, connector, client, deps };
  const sendTimeoutMs = config.response_timeout_ms + SEND_MARGIN_MS;
  return {
    connectorId: connector.id,
    sendTimeoutMs,
    start: availability.start,
    freeSlots: availability.free,
    async send(message, signal, isOurs = NOBODY_ELSE.isOurs) {
      if (!openParts(message).includes(true)) {
        deps.onSlots();
        return nothingLeft(message);
      }
      const limits = { signal: AbortSignal.any([signal, cutOff.signal]), isOurs };
      const request = () => attempt(channel, message, limits);
      return outcomeOf(message, await availability.ask(message.messageId, signal, request));
    },
    async stop() {
      // As long as ever: a change of settings is no reason for a message to be in doubt, and to be sent twice.
      await availability.stop(sendTimeoutMs);
      cutOff.abort();
      client.close();
    },
    status: availability.status,
  };
}

export function openClient(config: HttpConfig, clock: ChannelDeps["clock"]): HttpClient {
  return createHttpClient(clock, {
    connectTimeoutMs: config.connect_timeout_ms,
    timeoutMs: config.response_timeout_ms,
    maxConnections: config.max_in_flight,
    isVerified: config.tls_verify,
    ...(config.tls_ca !== undefined && { ca: config.tls_ca }),
  });
}

/** Sends what is left of a message. */
async function attempt(
  channel: HttpChannel,
  message: OutgoingMessage,
  { signal, isOurs }: { readonly signal: AbortSignal; readonly isOurs: () => boolean },
): Promise<Judgement> {
  if (message.channel !== "sms")
    return refused({ code: "http.not_an_sms", message: "this connector sends SMS only" });
  const { connector, config, gateway, client, deps } = channel;
  const callbackUrl = await callbackUrlOf(channel);
  if (callbackUrl instanceof Error) return notTried("http.no_settings", callbackUrl.message);
  if (!isOurs()) return TAKEN_OVER;
  const lookup = valuesOf(message, {
    config: connector.config,
    secrets: connector.secrets,
    sender: config.sender,
    templateIds: config.template_ids ?? {},
    callbackUrl,
  });
  const rendered = renderRequest(gateway.send, lookup);
  if ("error" in rendered) return refused(rendered.error);
  const exchange = await client.exchange(rendered.request, signal);
  if (exchange.kind === "unsent" && signal.aborted) return notTried("http.cut_off", exchange.reason);
  const told = toldBy(message, connector);
  const judged = judgeExchange(exchange, {
    description: gateway.answer,
    provider: config.provider,
    dltCodes: config.dlt_codes,
    messageId: message.messageId,
    to: message.to,
    told,
    now: deps.clock.now(),
  });
  const advised = exchange.kind === "unsent" ? withAdvice(judged, config) : judged;
  const judgement = withoutRepeats(advised, told);
  return callbackUrl === undefined ? withoutReceipt(judgement) : judgement;
}

/** Adds advice about a certificate to the connector's state only, since it is for operators: not to the message's timeline. */
function withAdvice(judgement: Judgement, config: HttpConfig): Judgement {
  const { reaction } = judgement;
  if (reaction?.kind !== "down") return judgement;
  const reason = withCertificateAdvice(reaction.reason, certificateFields(config));
  return { ...judgement, reaction: { ...reaction, reason } };
}

/** What a request has told the provider, which its words may repeat. */
function toldBy({ to, text = "", content }: OutgoingSms, { secrets }: Connector): Told {
  return {
    secrets: Object.values(secrets),
    content: [text, to, ...Object.values(content.variables ?? {}).map(valueText)],
    numbers: [to],
  };
}

function withoutRepeats({ outcome, reaction, ...rest }: Judgement, told: Told): Judgement {
  const tidied = (words: string) => withoutEcho(words, told);
  return {
    ...rest,
    outcome:
      outcome.kind === "sent"
        ? outcome
        : { ...outcome, error: { ...outcome.error, message: tidied(outcome.error.message) } },
    ...(reaction && {
      reaction: reaction.kind === "down" ? { ...reaction, reason: tidied(reaction.reason) } : reaction,
    }),
  };
}

/** For a message that was sent without a callback URL: no receipt will come. */
function withoutReceipt(judgement: Judgement): Judgement {
  const { outcome } = judgement;
  return outcome.kind === "sent"
    ? { ...judgement, outcome: { ...outcome, expectsReceipt: false } }
    : judgement;
}

/**
 * The URL for the provider's reports; `undefined` if the provider sends none, or this service does not know its public URL; an
 * error if that cannot be read now.
 */
async function callbackUrlOf({ connector, gateway, deps }: HttpChannel): Promise<string | undefined | Error> {
  const token = connector.secrets[CALLBACK_TOKEN];
  if (!gateway.callback || token === undefined) return undefined;
  try {
    const publicUrl = await deps.publicUrl();
    return publicUrl === undefined ? undefined : publicUrl + callbackPath(connector.id, token);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * A message goes out whole, and all its open parts share the outcome. But if the answer names as many ids as there are open parts, or
 * parts have not been counted yet, each id is that of one part.
 */
function outcomeOf(message: OutgoingMessage, { outcome, counts }: Judgement): SendOutcome {
  const open = openParts(message);
  const each = perPart(message, outcome, open);
  let next = 0;
  const length = Math.max(open.length, each.length);
  const parts = Array.from({ length }, (_, index) => (open[index] === false ? undefined : each[next++]));
  const detail = detailOf(message, parts);
  return {
    parts,
    countsAsAttempt: counts,
    ...(Object.keys(detail).length > 0 && { detail }),
  };
}

function nothingLeft({ parts }: OutgoingMessage): SendOutcome {
  return { parts: parts.map(() => undefined), countsAsAttempt: false };
}

function detailOf(message: OutgoingMessage, parts: SendOutcome["parts"]): NonNullable<SendOutcome["detail"]> {
  const text = message.channel === "sms" ? message.text : undefined;
  return {
    ...(text !== undefined && estimateSegments(text)),
    ...firstProviderId(message.messageId, parts),
  };
}

/** The most segments that a message can have. */
const MAX_PARTS = 255;

/** The outcome of each part that is open, in order. */
function perPart(
  { messageId }: OutgoingMessage,
  outcome: PartOutcome,
  open: readonly boolean[],
): readonly PartOutcome[] {
  const ids = outcome.kind === "sent" ? [...new Set(outcome.providerMessageIds)] : [];
  const count = open.filter(Boolean).length;
  const isUncounted = open.length === 1 && count === 1 && ids.length <= MAX_PARTS;
  // If our own id is among them, it is that of the whole message.
  return ids.length > 1 && (ids.length === count || isUncounted) && !ids.includes(messageId)
    ? ids.map((id) => ({ ...outcome, providerMessageIds: [id] }) as PartOutcome)
    : Array.from({ length: count }, () => outcome);
}

/** Whether each part is to be sent. A message whose parts have not been counted has one. */
function openParts(message: OutgoingMessage): readonly boolean[] {
  return Array.from({ length: Math.max(1, message.parts.length) }, (_, index) => isToBeSent(message, index));
}
