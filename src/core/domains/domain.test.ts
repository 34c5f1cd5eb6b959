import { expect, test } from "bun:test";
import { type Domain, senderDomain } from "./domain.ts";

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
