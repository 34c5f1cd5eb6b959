import { expect, test } from "bun:test";
import { unknownName } from "./unknown-name.ts";

const LIST = ["status", "tag", "to", "created_after", "created_before", "limit", "cursor"];

test("a slip of the keyboard is taken for the name that it was to be", () => {
  for (const [written, meant] of [
    ["stauts", "status"],
    ["limt", "limit"],
    ["creatdafter", "created_after"],
    ["Cursor", "cursor"],
  ] as const)
    expect(unknownName(written, LIST)).toBe(`unknown; did you mean ${meant}?`);
});

test("a name that other services use is answered with all that there are here", () => {
  for (const written of ["page", "sort", "type", "offset", "from", "id"])
    expect(unknownName(written, LIST)).toBe(`unknown; known are ${LIST.join(", ")}`);
});
