import { describe, expect, test } from "bun:test";
import { RULES } from "./architecture/rules.ts";
import { readTree, type Violation } from "./architecture/source.ts";

const tree = readTree();

test("the tree that is checked is this repository's", () => {
  const paths = tree.map((source) => source.path);
  expect(paths).toContain("src/core/messages/message.ts");
  expect(paths).toContain("test/architecture.test.ts");
});

describe("the rules of the house", () => {
  for (const rule of RULES) {
    test(rule.name, () => {
      const found = tree.flatMap((source) => rule.check(source));
      expect(found.map(format).join("\n")).toBe("");
    });
  }
});

function format({ path, line, message }: Violation): string {
  return `${path}:${line} ${message}`;
}
