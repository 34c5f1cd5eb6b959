import { expect, test } from "bun:test";
import { type DkimPair, type Domain, nextPair, senderDomain, signingPair } from "./domain.ts";

const row = (id: string, state: Partial<Domain>) => ({ id, dkimKeys: [], ...state }) as unknown as Domain;

test("of two rows of one domain the one whose records are found is sent from, then one that may still send", () => {
  const pending = row("pending", {});
  const failing = row("failing", { verifiedAt: 1, failingSince: 2 });
  const verified = row("verified", { verifiedAt: 1 });
  expect(senderDomain([pending, failing, verified])).toBe(verified);
  expect(senderDomain([pending, failing])).toBe(failing);
  expect(senderDomain([pending])).toBe(pending);
  expect(senderDomain([])).toBeUndefined();
});

test("the newest pair that was seen signs, and one that was not seen yet is the next", () => {
  const pair = (selector: string, seenAt?: number) =>
    ({ selector, ...(seenAt && { seenAt }) }) as unknown as DkimPair;
  const [old, current, fresh] = [pair("old", 1), pair("current", 2), pair("fresh")];
  expect(signingPair({ dkimKeys: [old, current, fresh] })).toBe(current);
  expect(nextPair({ dkimKeys: [old, current, fresh] })).toBe(fresh);
  expect(nextPair({ dkimKeys: [old, current] })).toBeUndefined();
  expect(signingPair({ dkimKeys: [fresh] })).toBe(fresh);
  expect(nextPair({ dkimKeys: [fresh] })).toBeUndefined();
});
