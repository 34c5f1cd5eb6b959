import { readSetting } from "../records/settings.ts";
import { renderTemplate, type Variables } from "./template.ts";
import { transliterate } from "./transliterate.ts";

/** A template's text as it goes out: filled in and, where the account wants that, transliterated. */
export function renderSms(
  body: string,
  { variables = {}, settings }: { readonly variables?: Variables; readonly settings: Settings },
): ReturnType<typeof renderTemplate> {
  const rendered = renderTemplate(body, variables);
  return "text" in rendered ? { text: asSent(rendered.text, settings) } : rendered;
}

/** The text, transliterated where the account wants that. */
export function asSent(text: string, settings: Settings): string {
  return readSetting(settings, "sms_transliterate") ? transliterate(text) : text;
}

type Settings = Readonly<Record<string, string>>;
