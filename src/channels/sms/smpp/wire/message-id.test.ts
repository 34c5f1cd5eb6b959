import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalId, type IdFormat, responseIds } from "./message-id.ts";

/** How peers are known to rewrite an id: other case, zeros in front, a fixed width, blanks around it. */
const rewritten = fc.record({
  zeros: fc.nat({ max: 20 }),
  isUpper: fc.boolean(),
  pad: fc.constantFrom("", " "),
});
type Rewriting = typeof rewritten extends fc.Arbitrary<infer T> ? T : never;

const rewrite = (id: string, { zeros, isUpper, pad }: Rewriting) =>
  `${pad}${"0".repeat(zeros)}${isUpper ? id.toUpperCase() : id.toLowerCase()}${pad}`;

/** Far beyond 2^53 and 2^64. */
const numbers = fc.bigInt({ min: 0n, max: 1n << 160n });

const BASES: Readonly<Record<IdFormat, readonly [response: number, receipt: number]>> = {
  same: [16, 16],
  resp_hex_receipt_dec: [16, 10],
  resp_dec_receipt_hex: [10, 16],
};

test.each(Object.entries(BASES) as [IdFormat, readonly [number, number]][])(
  "%s: however response and receipt write a number, they come to one id",
  (format, [responseBase, receiptBase]) => {
    fc.assert(
      fc.property(numbers, rewritten, rewritten, (number, one, other) => {
        const response = rewrite(number.toString(responseBase), one);
        const receipt = rewrite(number.toString(receiptBase), other);
        expect(responseIds(response, format)).toContain(canonicalId(receipt, format, "receipt"));
      }),
    );
  },
);

test.each(Object.keys(BASES) as IdFormat[])("%s: different numbers never come to one id", (format) => {
  const [responseBase, receiptBase] = BASES[format];
  fc.assert(
    fc.property(numbers, numbers, (one, other) => {
      fc.pre(one !== other);
      const response = canonicalId(one.toString(responseBase), format, "response");
      expect(canonicalId(other.toString(receiptBase), format, "receipt")).not.toBe(response);
    }),
  );
});

test.each([
  ["18446744073709551617", "10000000000000001", "resp_dec_receipt_hex"],
  ["10000000000000001", "018446744073709551617", "resp_hex_receipt_dec"],
  ["a1b2c3d4", "A1B2C3D4", "same"],
  ["0000123", "123", "same"],
  ["0", "000", "same"],
  ["3f2b6c1e-0d0a-4c1c-9b61-5f4f3c2d1e0f", "3F2B6C1E-0D0A-4C1C-9B61-5F4F3C2D1E0F", "same"],
  ["AbCxyz_9", "AbCxyz_9", "same"],
  ["msg-17:ab", " msg-17:ab", "resp_hex_receipt_dec"],
] as const)("%s in a response is %s in a receipt, by %s", (response, receipt, format) => {
  expect(responseIds(response, format)).toContain(canonicalId(receipt, format, "receipt"));
});

test("opaque ids keep their case and their zeros: there they may make the difference", () => {
  expect(canonicalId("00AbZ", "same", "receipt")).toBe("00AbZ");
  expect(canonicalId("00-x", "same", "response")).toBe("00-x");
});

test("the id as it was written comes first, for it is what the provider knows; no id is none", () => {
  expect(responseIds("00ff", "same")).toEqual(["00ff", "FF"]);
  expect(responseIds("FF", "same")).toEqual(["FF"]);
  expect(responseIds("255", "resp_dec_receipt_hex")).toEqual(["255", "FF"]);
  for (const format of Object.keys(BASES) as IdFormat[]) {
    expect([format, responseIds("", format), responseIds(" ", format)]).toEqual([format, [], []]);
  }
});
