import { expect, test } from "bun:test";
import type { SmsContent } from "../../core/messages/message.ts";
import { joinContent, splitContent } from "./message-rows.ts";

const FULL: SmsContent = {
  channel: "sms",
  from: "ACMEIN",
  templateId: "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10",
  dltTemplateId: "1107161234567890123",
  dltEntityId: "1101172974420810001",
  variables: { "1": 'quo"te\\ \u2028 \ud83d\ude00', "2": 4821, "3": -0.5, "10": "" },
  callbackUrl: "https://example.com/hooks",
  tags: ["otp", "a,b"],
  metadata: { "1": { deep: [null, true] } },
  category: "transactional",
  resolved: { from: "ACME" },
  text: "Your code is {#var#}",
};

const CONTENTS: Readonly<Record<string, SmsContent>> = {
  "with everything": FULL,
  "with nothing": { channel: "sms" },
  "with no variables in their object": { channel: "sms", variables: {} },
  "with a text only": { channel: "sms", text: "" },
};

for (const [name, content] of Object.entries(CONTENTS)) {
  test(`an SMS ${name} comes back as it was, and without its text once that is wiped`, () => {
    const { envelope, body } = splitContent(content);
    expect(joinContent(envelope, body)).toEqual(content);
    const { text: _, ...kept } = content;
    expect(joinContent(envelope, null)).toEqual(kept);
  });
}
