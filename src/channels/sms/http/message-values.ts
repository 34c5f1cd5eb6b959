import { sentDltIds } from "../../../core/sms/sent-dlt-ids.ts";
import { segmentSms } from "../../../core/sms/sms-segments.ts";
import { valueText } from "../../../core/sms/template.ts";
import type { OutgoingSms } from "../../channel.ts";
import type { Lookup } from "./template.ts";

/** Placeholders for one value each. There are also `secret.`, `config.` and `variables.`, each with a name after the dot. */
const PLACEHOLDERS = [
  "to",
  "to_digits",
  "from",
  "text",
  "encoding",
  "segments",
  "message_id",
  "account_id",
  "template_id",
  "dlt_template_id",
  "dlt_entity_id",
  "provider_template_id",
  "callback_url",
  "validity_seconds",
  "validity_minutes",
  "validity_ms",
] as const;

type Placeholder = (typeof PLACEHOLDERS)[number];

/** What a connector adds to a message's own values. */
export interface ConnectorValues {
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** The sender of messages that name none. */
  readonly sender: string | undefined;
  /** The provider's own template ids, by DLT template id or by ours. */
  readonly templateIds: Readonly<Record<string, string>>;
  readonly callbackUrl: string | undefined;
}

/** The values of a message's placeholders. Makes text well-formed Unicode. */
export function valuesOf(message: OutgoingSms, connector: ConnectorValues): Lookup {
  const values = messageValues(message, connector);
  return (name) => {
    const dot = name.indexOf(".");
    const value = dot < 0 ? own(values, name) : inGroup(name.slice(0, dot), name.slice(dot + 1));
    return typeof value === "string" || typeof value === "number"
      ? valueText(value).toWellFormed()
      : undefined;
  };

  function inGroup(group: string, name: string): unknown {
    if (group === "secret") return own(connector.secrets, name);
    return group === "config" ? own(connector.config, name) : own(message.content.variables ?? {}, name);
  }
}

/** The values that need no message, for `check`. */
export function valuesOfConnector({ config, secrets }: Pick<ConnectorValues, "config" | "secrets">): Lookup {
  return (name) => {
    const [group = "", member = ""] = name.split(".", 2);
    const value =
      group === "secret" ? own(secrets, member) : group === "config" ? own(config, member) : undefined;
    return typeof value === "string" ? value : undefined;
  };
}

export function isPlaceholder(name: string): boolean {
  return PLACEHOLDERS.some((known) => known === name) || /^(secret|config)\.\w+$|^variables\.\d+$/.test(name);
}

/** How many segments a text takes, and in which encoding. An estimate, since the provider splits it. */
export function estimateSegments(text: string): { readonly encoding: string; readonly segments: number } {
  const { encoding, parts } = segmentSms(text);
  return { encoding, segments: parts.length };
}

function messageValues(
  message: OutgoingSms,
  { sender, templateIds, callbackUrl }: ConnectorValues,
): Readonly<Record<Placeholder, string | number | undefined>> {
  const { content, text } = message;
  const estimate = text === undefined ? undefined : estimateSegments(text);
  const { dltTemplateId, dltEntityId } = sentDltIds(content);
  const byOurId = content.templateId === undefined ? undefined : own(templateIds, content.templateId);
  const registeredId = dltTemplateId ?? content.templateDltId;
  const byDltId = registeredId === undefined ? undefined : own(templateIds, registeredId);
  const validityMs = Math.max(1000, message.remainingMs);
  return {
    to: message.to,
    to_digits: message.to.replace(/^\+/, ""),
    from: message.from ?? sender,
    text,
    encoding: estimate?.encoding,
    segments: estimate?.segments,
    message_id: message.messageId,
    account_id: message.accountId,
    template_id: content.templateId,
    dlt_template_id: dltTemplateId,
    dlt_entity_id: dltEntityId,
    provider_template_id: byDltId ?? byOurId ?? registeredId,
    callback_url: callbackUrl,
    validity_seconds: Math.floor(validityMs / 1000),
    validity_minutes: Math.max(1, Math.floor(validityMs / 60_000)),
    validity_ms: Math.floor(validityMs),
  };
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
