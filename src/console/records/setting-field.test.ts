import { expect, test } from "bun:test";
import { parseText } from "../forms/fields.ts";
import { type Setting, settingField } from "./setting-field.ts";

const setting = (expected: string, more: Partial<Setting> = {}): Setting => ({
  name: "x",
  set_by: "default",
  scope: "account",
  description: "",
  expected,
  ...more,
});

test("what a setting expects decides how it is asked for, and what is sent", () => {
  const read = (expected: string, text: string) => parseText(settingField(setting(expected)), text);
  expect(read("true or false", "false")).toEqual({ value: false });
  expect(read("an integer from 1 to 5", "3")).toEqual({ value: 3 });
  expect(read("8 to 30 digits", "12345678")).toEqual({ value: "12345678" });
  expect(read("one of replay, strict", "strict")).toEqual({ value: "strict" });
});

test("one of several words is a choice", () => {
  const { choices } = settingField(setting("one of replay, strict"));
  expect(choices?.map(([word]) => word)).toEqual(["replay", "strict"]);
});

test("the hint tells what is expected, and the default if there is one", () => {
  expect(settingField(setting("an https:// URL")).hint).toBe("Expected: an https:// URL");
  expect(settingField(setting("an integer from 1 to 5", { default: 2 })).hint).toBe(
    "Expected: an integer from 1 to 5. Default: 2",
  );
});
