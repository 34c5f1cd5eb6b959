import type { MessageError } from "../../core/messages/message.ts";
import { sentDltIds } from "../../core/sms/sent-dlt-ids.ts";
import { MAX_SEGMENTS, segmentSms } from "../../core/sms/sms-segments.ts";
import { valueText } from "../../core/sms/template.ts";
import type { OutgoingSms } from "../channel.ts";
import type { Rendering } from "./rendering.ts";
import { createTruncation } from "./truncation.ts";

/** How many characters to keep of a variable's value. Texts are kept whole, since they have at most 255 segments. */
const MAX_VALUE = 4_096;

/** A segment holds at most 160 septets: a longer text cannot fit, and need not be split to find out. */
const MAX_TEXT = MAX_SEGMENTS * 160;

/** The message as the simulator stores it. If only template ids are known, there is no text and nothing to count. */
export function renderSms({ from, text, content }: OutgoingSms): Rendering {
  const counted = text === undefined ? {} : countSegments(text);
  if (counted === undefined) return { kind: "refused", error: TOO_LONG };
  const truncation = createTruncation();
  const { templateId, variables } = content;
  const { dltTemplateId, dltEntityId } = sentDltIds(content);
  const shown =
    variables &&
    mapValues(variables, (value) => truncation.truncate("variables", valueText(value), MAX_VALUE));
  const rendered = {
    ...(from !== undefined && { from }),
    ...(text !== undefined && { text }),
    ...(templateId !== undefined && { template_id: templateId }),
    ...(dltTemplateId !== undefined && { dlt_template_id: dltTemplateId }),
    ...(dltEntityId !== undefined && { dlt_entity_id: dltEntityId }),
    ...(shown && { variables: shown }),
    ...counted,
    ...truncation.note(),
  };
  return { kind: "rendered", rendered, detail: counted };
}

const TOO_LONG: MessageError = {
  code: "smpp.too_long",
  message: `the text needs more than ${MAX_SEGMENTS} segments`,
};

function countSegments(text: string): { segments: number; encoding: string } | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const { encoding, parts } = segmentSms(text);
  return parts.length > MAX_SEGMENTS ? undefined : { segments: parts.length, encoding };
}

function mapValues<V>(
  record: Readonly<Record<string, V>>,
  map: (value: V) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
