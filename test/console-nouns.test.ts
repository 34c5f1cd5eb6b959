import { expect, test } from "bun:test";
import { NOUNS as COMMANDS } from "../src/cli/admin/nouns.ts";
import { NOUNS as PAGES } from "../src/console/records/nouns.ts";

test("what operators maintain by commands has pages in the console, and the other way round", () => {
  const namesOf = (nouns: readonly { readonly name: string }[]) => nouns.map(({ name }) => name).sort();
  expect(namesOf(PAGES)).toEqual(namesOf(COMMANDS));
});
