import { readSetting } from "./settings.ts";
import { renderTemplate, type Variables } from "./template.ts";
import { transliterate } from "./transliterate.ts";

/** A template's text as it goes out: filled in, and written plainly where the account wants that. */
export function renderSms(
  body: string,
  { variables = {}, settings }: { readonly variables?: Variables; readonly settings: Settings },
): ReturnType<typeof renderTemplate> {
  const rendered = renderTemplate(body, variables);
  const isPlain = "text" in rendered && readSetting(settings, "sms_transliterate");
  return isPlain ? { text: transliterate(rendered.text) } : rendered;
}

type Settings = Readonly<Record<string, string>>;
