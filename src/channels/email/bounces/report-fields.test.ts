import { expect, test } from "bun:test";
import { parseFieldGroups, typedValue } from "./report-fields.ts";

const read = (...lines: readonly string[]) =>
  parseFieldGroups(lines.join("\r\n")).map((group) => Object.fromEntries(group));

test("of several fields with one name the first counts, with the lines folded into it and no others", () => {
  expect(read("Status : 5.1.1", "\t(no such", "  mailbox) ", "status: 2.0.0", " (fine)", "X: y")).toEqual([
    { status: "5.1.1 (no such mailbox)", x: "y" },
  ]);
});

test("a line without any word ends a group, and what belongs to no field is passed over", () => {
  const lines = [" folded", ": nameless", "no field", "", "A: 1", " \t", " folded", "B: 2", "", "", "C:3"];
  expect(read(...lines)).toEqual([{ a: "1" }, { b: "2" }, { c: "3" }]);
});

test("two hundred groups are read, and 4 KiB of a value", () => {
  expect(read(...Array.from({ length: 201 }, (_, at) => `A: ${at}\r\n`))).toHaveLength(200);
  const [group] = read(`Long: ${"x".repeat(5_000)}`, "Folded: y", ...Array(5).fill(` ${"y".repeat(1_000)}`));
  expect([group?.long?.length, group?.folded?.length]).toEqual([4_095, 4_096]);
});

test("a value is without its type, where it has one", () => {
  for (const text of ["rfc822; ann@example.net ", " RFC822;ann@example.net", " ann@example.net "])
    expect(typedValue(text)).toBe("ann@example.net");
});
