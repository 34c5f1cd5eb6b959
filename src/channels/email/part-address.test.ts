import { expect, test } from "bun:test";
import { randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { createReturnPaths } from "./part-address.ts";
import { createPartTokens } from "./part-token.ts";

const key = randomBytes(32);
const paths = createReturnPaths(key);
const host = "bounces.example.com";

test("a return path names its message and part, in whatever case it comes back", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 0, max: 255 }), fc.boolean(), (messageId, part, isUpper) => {
      const address = paths.address({ messageId, part, host });
      expect(address.split("@")[0]?.length).toBeLessThanOrEqual(64);
      expect(paths.read(isUpper ? address.toUpperCase() : address)).toEqual({ messageId, part });
    }),
  );
});

test("an address that was changed in any character names nothing", () => {
  const address = paths.address({ messageId: randomUUID(), part: 3, host });
  const local = address.slice(0, address.indexOf("@"));
  for (let at = 0; at < local.length; at++) {
    const other = local[at] === "a" ? "c" : "a";
    expect(paths.read(`${local.slice(0, at)}${other}${local.slice(at + 1)}@${host}`)).toBeUndefined();
  }
});

test("an address made under another key names nothing", () => {
  const address = createReturnPaths(randomBytes(32)).address({ messageId: randomUUID(), part: 0, host });
  expect(paths.read(address)).toBeUndefined();
});

test("a token made for another purpose names nothing", () => {
  const token = createPartTokens("unsubscribe", [key]).seal({ messageId: randomUUID(), part: 0 });
  expect(paths.read(`b-${token}@${host}`)).toBeUndefined();
});

test.each([
  "",
  "@",
  "b-@x",
  "postmaster@example.com",
  `b-${"a".repeat(40)}`,
  `b-${"a".repeat(41)}@x`,
  `b-${"1".repeat(40)}@x`,
])("%p names nothing", (address) => {
  expect(paths.read(address)).toBeUndefined();
});

test("what is no message of ours cannot be named", () => {
  expect(() => paths.address({ messageId: "no-uuid", part: 0, host })).toThrow();
  expect(() => paths.address({ messageId: randomUUID(), part: 256, host })).toThrow();
});
