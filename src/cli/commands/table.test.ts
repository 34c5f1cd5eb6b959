import { expect, test } from "bun:test";
import { formatTable } from "./table.ts";

const HEADS = ["NAME", "MEANING"];
const MEANING = "Delivery window of an SMS without expire_after_seconds";

test("where a table is wider than the terminal, its last column goes on below itself", () => {
  const rows = [["window", MEANING]];
  const lines = ["NAME    MEANING", "window  Delivery window of an", "        SMS without"];
  expect(formatTable(HEADS, rows, 29)).toBe(`${lines.join("\n")}\n        expire_after_seconds\n`);
  for (const width of [8 + MEANING.length, undefined])
    expect(formatTable(HEADS, rows, width)).toBe(`NAME    MEANING\nwindow  ${MEANING}\n`);
});

test("a terminal that leaves the last column hardly any room breaks the lines itself", () => {
  expect(formatTable(HEADS, [["window", MEANING]], 27)).toContain(`window  ${MEANING}\n`);
});

test("a word that is longer than its column is not broken: a link stays one that can be followed", () => {
  const link = "https://example.com/a/long/link";
  const lines = formatTable(HEADS, [["a", `see ${link} there`]], 28).split("\n");
  expect(lines.slice(1, -1).map((line) => line.trim())).toEqual(["a     see", link, "there"]);
});

test.each(["नमस्ते", "中文", "e\u0301t\u00e9", "😀 ok"])(
  "columns after %s are where the terminal shows them",
  (name) => {
    const [head, row] = formatTable(["NAME", "MODE"], [[name, "live"]]).split("\n");
    expect(Bun.stringWidth(String(row).split("live")[0] ?? "")).toBe(String(head).indexOf("MODE"));
  },
);
