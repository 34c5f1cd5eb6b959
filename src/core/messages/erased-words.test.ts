import { expect, test } from "bun:test";
import { createWordErasure, ERASED_WORDS } from "./erased-words.ts";
import type { Part } from "./message.ts";

const GONE = { code: "5.1.1", message: "User asha unknown" };
const BUSY = { code: "4.3.2", message: "try later" };
const PARTS: readonly Part[] = [
  { status: "bounced", address: "Asha@x.test", error: GONE },
  { status: "pending", address: "ravi@x.test", error: BUSY },
];

test("of a recipient's error only the code is left, and others' errors stay", () => {
  const { part } = createWordErasure(PARTS, "asha@x.test");
  expect(PARTS.map(part)).toEqual([
    { ...PARTS[0]!, error: { code: "5.1.1", message: ERASED_WORDS } },
    PARTS[1]!,
  ]);
});

test("words that may be about any recipient stay only if they were said about another one", () => {
  const { error, entry } = createWordErasure(PARTS, "asha@x.test");
  expect([error(GONE).message, error(BUSY).message]).toEqual([ERASED_WORDS, BUSY.message]);
  expect(entry({ error: BUSY, detail: { attempt: 1 } })).toEqual({ error: BUSY, detail: { attempt: 1 } });
  expect(entry({ error: GONE })).toEqual({ error: { code: "5.1.1", message: ERASED_WORDS } });
  const theirs = { recipient: "asha@X.test", error: BUSY, detail: { raw: "failed asha" } };
  expect(entry(theirs)).toEqual({
    recipient: "asha@X.test",
    error: { code: "4.3.2", message: ERASED_WORDS },
    detail: { raw: ERASED_WORDS },
  });
  const others = { recipient: "ravi@x.test", error: GONE, detail: { raw: "failed" } };
  expect(entry(others)).toEqual(others);
});

test("the mail hosts of an attempt that was for the recipient too are named no more", () => {
  const { entry } = createWordErasure(PARTS, "asha@x.test");
  const detail = { hosts: ["mx.asha.test", "mx.ravi.test"], tls: true };
  expect(entry({ detail })).toEqual({ detail: { tls: true, hosts: [ERASED_WORDS] } });
  const others = { recipient: "ravi@x.test", detail };
  expect(entry(others)).toEqual(others);
});
