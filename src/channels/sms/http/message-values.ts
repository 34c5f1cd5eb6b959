import { segmentSms } from "../../../core/sms/sms-segments.ts";
import type { OutgoingSms } from "../../channel.ts";
import type { Lookup } from "./template.ts";

/** Placeholders that stand for one value each; `secret.`, `config.` and `variables.` have names behind the dot. */
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
export interface Surroundings {
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Sender of messages that name none. */
  readonly sender: string | undefined;
  /** The provider's own ids of templates, by DLT template id or ours. */
  readonly templateIds: Readonly<Record<string, string>>;
  readonly callbackUrl: string | undefined;
}

/** The values behind the placeholders of a message. Text that is not well-formed Unicode is made so. */
export function valuesOf(message: OutgoingSms, surroundings: Surroundings): Lookup {
  const values = messageValues(message, surroundings);
  return (name) => {
    const dot = name.indexOf(".");
    const value = dot < 0 ? own(values, name) : inGroup(name.slice(0, dot), name.slice(dot + 1));
    return typeof value === "string" || typeof value === "number" ? String(value).toWellFormed() : undefined;
  };

  function inGroup(group: string, name: string): unknown {
    if (group === "secret") return own(surroundings.secrets, name);
    return group === "config" ? own(surroundings.config, name) : own(message.content.variables ?? {}, name);
  }
}

/** The values that hold without a message, for `check`. */
export function valuesOfConnector({ config, secrets }: Pick<Surroundings, "config" | "secrets">): Lookup {
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

/** What a text becomes on the air, as far as we can tell: the provider splits it. */
export function airOf(text: string): { readonly encoding: string; readonly segments: number } {
  const { encoding, parts } = segmentSms(text);
  return { encoding, segments: parts.length };
}

function messageValues(
  message: OutgoingSms,
  { sender, templateIds, callbackUrl }: Surroundings,
): Readonly<Record<Placeholder, string | number | undefined>> {
  const { content, text } = message;
  const air = text === undefined ? undefined : airOf(text);
  const dltTemplateId = content.resolved?.dltTemplateId ?? content.dltTemplateId;
  const ours = content.templateId === undefined ? undefined : own(templateIds, content.templateId);
  const theirs = dltTemplateId === undefined ? undefined : own(templateIds, dltTemplateId);
  const validityMs = Math.max(1000, message.remainingMs);
  return {
    to: message.to,
    to_digits: message.to.replace(/^\+/, ""),
    from: message.from ?? content.resolved?.from ?? content.from ?? sender,
    text,
    encoding: air?.encoding,
    segments: air?.segments,
    message_id: message.messageId,
    account_id: message.accountId,
    template_id: content.templateId,
    dlt_template_id: dltTemplateId,
    dlt_entity_id: content.resolved?.dltEntityId ?? content.dltEntityId,
    provider_template_id: theirs ?? ours ?? dltTemplateId,
    callback_url: callbackUrl,
    validity_seconds: Math.floor(validityMs / 1000),
    validity_minutes: Math.max(1, Math.floor(validityMs / 60_000)),
    validity_ms: Math.floor(validityMs),
  };
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
