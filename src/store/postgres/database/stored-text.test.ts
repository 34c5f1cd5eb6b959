import { expect, test } from "bun:test";
import { fromStoredText, toStoredText } from "./stored-text.ts";

const TEXTS = [
  "",
  "plain",
  "\0",
  "a\0b\0",
  "\ue000",
  "\ue0000",
  "\ue0001",
  "\0\ue000\0",
  "\ue000\ue0000\0" + "1",
];

test("every text comes out as it went in, and no U+0000 is stored", () => {
  for (const text of TEXTS) {
    expect(toStoredText(text)).not.toContain("\0");
    expect(fromStoredText(toStoredText(text))).toBe(text);
  }
  expect(new Set(TEXTS.map(toStoredText)).size).toBe(TEXTS.length);
});
