import { expect, test } from "bun:test";
import {
  closeParts,
  createScrubber,
  createWordScrubber,
  dropName,
  ERASED_ADDRESS,
  isErased,
} from "./erasure.ts";
import type { EmailContent, Progress } from "./message.ts";

test("an address is scrubbed wherever it stands, in any case, and others that hold it are not", () => {
  const scrub = createScrubber("asha@x.test");
  for (const text of [
    "asha@x.test",
    "<Asha@X.test>",
    "'asha@x.test'.",
    "to=asha@x.test;",
    '{"a":"asha@x.test"}',
    "gone:\nasha@x.test",
    JSON.stringify("gone:\r\nasha@x.test"),
    JSON.stringify("gone\\\u0001asha@x.test"),
  ]) {
    expect(scrub(text)).toBe(text.replace(/asha@x\.test/i, ERASED_ADDRESS));
  }
  for (const text of [
    "basha@x.test",
    "b.asha@x.test",
    "asha@x.test.example",
    "asha@x.tests",
    "ashaAx.test",
    "n\u00e9asha@x.test",
    "d'asha@x.test",
    JSON.stringify("nasha@x.test"),
  ]) {
    expect(scrub(text)).toBe(text);
  }
  expect(createScrubber("a-b@x.test")("a-b@x.test, c-a-b@x.test")).toBe(`${ERASED_ADDRESS}, c-a-b@x.test`);
  expect(createScrubber("\u00c9ric@x.test")("\u00e9ric@x.test")).toBe(ERASED_ADDRESS);
  expect(createScrubber('"a b"@x.test')(JSON.stringify('"a b"@x.test'))).toBe(`"${ERASED_ADDRESS}"`);
});

test("an address in a URL is scrubbed, also within an encoded value, and longer ones are not", () => {
  const scrub = createScrubber("asha+news@x.test");
  const url = (to: string) => `https://acme.test/hook?to=${to}&k=1`;
  for (const before of ["", "mailto%3A", "a%3D"]) {
    const written = url(`${before}${encodeURIComponent("Asha+News@x.test")}`);
    expect(scrub(written)).toBe(url(`${before}${ERASED_ADDRESS}`));
  }
  const quoted = '"o\'b a"@x.test';
  const form = new URLSearchParams({ to: quoted }).toString();
  expect(createScrubber(quoted)(form)).toBe(`to=${ERASED_ADDRESS}`);
  for (const to of ["natasha%2Bnews%40x.test", "asha%2Bnews%40x.tests"]) expect(scrub(url(to))).toBe(url(to));
});

test("what is open for the recipient is closed, and the email folds over the others", () => {
  const progress: Progress = {
    channel: "email",
    status: "queued",
    parts: [
      { status: "pending", address: "Asha@x.test" },
      { status: "sent", address: "b@x.test" },
    ],
    sequence: 1,
    position: 2,
  };
  const closed = closeParts(progress, "asha@x.test");
  expect(closed).toMatchObject({ status: "sent", sequence: 1, position: 2 });
  expect(closed.parts.map((part) => part.status)).toEqual(["failed", "sent"]);
  expect(closeParts(progress, "b@x.test")).toEqual(progress);
});

test("the name that belonged to the address goes with it", () => {
  const content: EmailContent = {
    channel: "email",
    from: { email: "a@acme.test" },
    to: [{ email: "ASHA@x.test", name: "Asha Rao" }],
    cc: [{ email: "b@x.test", name: "B" }],
    subject: "hi",
  };
  const { to, cc } = dropName(content, "asha@x.test");
  expect([to, cc]).toEqual([[{ email: "ASHA@x.test" }], content.cc!]);
});

test("a number is scrubbed with and without its plus, and longer ones that hold it are not", () => {
  const scrub = createWordScrubber("+919812345678");
  expect(scrub("+919812345678 rang; call 919812345678.")).toBe("erased rang; call erased.");
  for (const text of ["+9198123456789", "5919812345678"]) expect(scrub(text)).toBe(text);
  expect(createWordScrubber("asha@x.test")("by Asha@x.test")).toBe(`by ${ERASED_ADDRESS}`);
});

test("what stands for an erased recipient is no number, no address, and nothing else that somebody wrote", () => {
  expect(isErased(`erased:${"0a".repeat(32)}`)).toBe(true);
  for (const text of ["erased", "erased:0a", `erased:${"0A".repeat(32)}`, "+919812345678", "a@x.test"]) {
    expect(isErased(text)).toBe(false);
  }
});
