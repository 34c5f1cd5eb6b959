import { expect, test } from "bun:test";
import { UsageFailure } from "../commands/command-failure.ts";
import { readFreeOptions } from "./free-options.ts";

const kind = {
  config: {
    properties: {
      ids: { type: "array", items: { type: "string" } },
      extra_tlvs: { type: "array", items: { type: "object" } },
    },
  },
};
const read = (...words: string[]) => readFreeOptions(words, kind);

test("an option that may be given several times collects texts, or JSON objects where its entries are such", () => {
  expect(read("--ids", "a", "--ids=b")).toEqual({ ids: ["a", "b"] });
  expect(read("--extra-tlvs", '{"tag":5123,"text":"ACME"}', "--extra-tlvs", '{"tag":5,"hex":"00"}')).toEqual({
    extra_tlvs: [
      { tag: 5123, text: "ACME" },
      { tag: 5, hex: "00" },
    ],
  });
  expect(() => read("--extra-tlvs", "5123=ACME")).toThrow(UsageFailure);
});

test("a list of JSON objects is taken as one, as in documentation and console", () => {
  const list = [{ tag: 5123, text: "ACME" }, { tag: 5 }];
  expect(read("--extra-tlvs", JSON.stringify(list))).toEqual({ extra_tlvs: list });
  expect(read("--extra-tlvs", '{"tag":4}', "--extra-tlvs", ` ${JSON.stringify(list)}`)).toEqual({
    extra_tlvs: [{ tag: 4 }, ...list],
  });
  expect(() => read("--extra-tlvs", '[{"tag":5123,}]')).toThrow(
    /--extra-tlvs needs JSON objects; .*expected/,
  );
});

test("an empty value is a list without entries, which clears the field", () => {
  expect(read("--ids", "")).toEqual({ ids: [] });
  expect(read("--extra-tlvs=")).toEqual({ extra_tlvs: [] });
});
