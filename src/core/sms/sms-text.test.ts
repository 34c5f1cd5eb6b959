import { expect, test } from "bun:test";
import { renderSms } from "./sms-text.ts";

const INDIAN = "+919812345678";
const ABROAD = "+14155550123";

function rendered(body: string, value: string, to: string, settings = {}) {
  return renderSms(body, {
    variables: { "1": value },
    settings: { sms_transliterate: "true", ...settings },
    to: [to],
  });
}

test("to an Indian number only values are made plain, and the text of the template stays as it is registered", () => {
  expect(rendered("Hi {#var#}", "\u201cAsha\u201d", INDIAN)).toEqual({ text: 'Hi "Asha"' });
  expect(rendered("\u201cHi\u201d {#var#}", "\u2018Asha\u2019", ABROAD)).toEqual({ text: "\"Hi\" 'Asha'" });
});

test("where the template itself does not fit GSM-7, values stay as they are: to make them plain would gain nothing", () => {
  const text = "\u0928\u092e\u0938\u094d\u0924\u0947 \u201cAsha\u201d";
  expect(rendered("\u0928\u092e\u0938\u094d\u0924\u0947 {#var#}", "\u201cAsha\u201d", INDIAN)).toEqual({
    text,
  });
});

test("a value that would become longer than operators take stays as it is", () => {
  const settings = { dlt_variable_max_length: "5" };
  expect(rendered("For {#var#}", "\u20b9500", INDIAN, settings)).toEqual({ text: "For \u20b9500" });
  expect(rendered("For {#var#}", "\u20b950", INDIAN, settings)).toEqual({ text: "For Rs.50" });
});
