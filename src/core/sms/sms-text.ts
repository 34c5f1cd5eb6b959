import { isLonger } from "../body/text-rules.ts";
import { readSetting, type StoredSettings } from "../records/settings.ts";
import { gsm7Length } from "./gsm7.ts";
import { isIndian } from "./phone-number.ts";
import { type Rendered, renderTemplate, type Variables, valueText } from "./template.ts";
import { transliterate } from "./transliterate.ts";

export interface SmsToRender {
  readonly variables?: Variables;
  readonly settings: StoredSettings;
  /** The recipients: for Indian numbers, operators compare the text with the registered one. */
  readonly to: readonly string[];
}

/**
 * A template's text as it is sent: filled in and, if the account wants that, transliterated. For Indian numbers only the values of
 * variables are transliterated, since the rest has to be as it is registered.
 */
export function renderSms(body: string, { variables = {}, settings, to }: SmsToRender): Rendered {
  const rendered = renderTemplate(body, variables);
  if ("missing" in rendered || !readSetting(settings, "sms_transliterate")) return rendered;
  if (!to.some(isIndian)) return { text: transliterate(rendered.text) };
  const plain = renderTemplate(body, withPlainValues(variables, settings));
  return "text" in plain && gsm7Length(plain.text) !== undefined ? plain : rendered;
}

/** Transliterates the values. A value stays as it is if it would become longer than operators allow: `₹` becomes `Rs.`. */
function withPlainValues(variables: Variables, settings: StoredSettings): Variables {
  const most = readSetting(settings, "dlt_variable_max_length");
  const plainOf = (value: string | number) => {
    const plain = transliterate(valueText(value));
    return isLonger(plain, most) ? value : plain;
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, plainOf(value)]));
}
