import { afterAll, describe, expect, test } from "bun:test";
import { RULES } from "./architecture/rules.ts";
import { readTree, type Source, type Violation } from "./architecture/source.ts";

let tree: readonly Source[] = readTree();

/** The files that run later in this process would carry all syntax trees with them: hundreds of megabytes. */
afterAll(() => {
  tree = [];
});

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
