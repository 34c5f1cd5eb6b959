import { expect, test } from "bun:test";
import { randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { createUnsubscribeTokens } from "./unsubscribe-token.ts";

const tokens = createUnsubscribeTokens(randomBytes(32));
const wish = { accountId: randomUUID(), messageId: randomUUID(), email: "ann@example.net" };

test("a token says who does not want what, and is the same every time", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), fc.emailAddress(), (accountId, messageId, email) => {
      const token = tokens.seal({ accountId, messageId, email });
      expect(tokens.open(token)).toEqual({ accountId, messageId, email });
      expect(tokens.seal({ accountId, messageId, email })).toBe(token);
    }),
  );
});

test("a token shows no address", () => {
  expect(Buffer.from(tokens.seal(wish), "base64url").toString("latin1")).not.toContain(wish.email);
});

test("a token that was changed in any octet, or made under another key, says nothing", () => {
  const sealed = Buffer.from(tokens.seal(wish), "base64url");
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(tokens.open(changed.toString("base64url"))).toBeUndefined();
  }
  expect(createUnsubscribeTokens(randomBytes(32)).open(tokens.seal(wish))).toBeUndefined();
  for (const text of ["", "a", "a".repeat(64), "a".repeat(10_000), "ä".repeat(64)]) {
    expect(tokens.open(text)).toBeUndefined();
  }
});
