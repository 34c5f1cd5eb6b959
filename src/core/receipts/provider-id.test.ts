import { expect, test } from "bun:test";
import fc from "fast-check";
import { bareId, foldId, inOtherRadix, namedByReceipts } from "./provider-id.ts";

/** How peers are known to rewrite an id: other case, zeros in front, a fixed width, blanks around it. */
const rewriting = fc.record({
  zeros: fc.nat({ max: 20 }),
  isUpper: fc.boolean(),
  pad: fc.constantFrom("", " "),
});
type Rewriting = typeof rewriting extends fc.Arbitrary<infer T> ? T : never;

const rewrite = (id: string, { zeros, isUpper, pad }: Rewriting) =>
  `${pad}${"0".repeat(zeros)}${isUpper ? id.toUpperCase() : id.toLowerCase()}${pad}`;

const forms = (id: string) => [foldId(id), ...inOtherRadix(id)];

/** Far beyond 2^53 and 2^64. */
const numbers = fc.bigInt({ min: 1n, max: 1n << 160n });
const bases = fc.constantFrom(10, 16);

test("however two peers write a number, each finds the other's way among the forms of its own", () => {
  fc.assert(
    fc.property(numbers, bases, bases, rewriting, rewriting, (number, oneBase, otherBase, one, other) => {
      const ours = rewrite(number.toString(oneBase), one);
      const theirs = rewrite(number.toString(otherBase), other);
      expect(forms(theirs)).toContain(foldId(ours));
      expect(forms(ours)).toContain(foldId(theirs));
    }),
  );
});

/** What a text may mean. */
const readings = (form: string) => [BigInt(`0x${form}`), ...(/^\d+$/.test(form) ? [BigInt(form)] : [])];

test("texts that no base makes equal have no form in common with each other's key", () => {
  // Small ones are often equal by chance.
  const written = fc.oneof(numbers, fc.bigInt({ min: 1n, max: 300n })).chain((number) => {
    return fc.constantFrom(number.toString(10), number.toString(16).toUpperCase());
  });
  fc.assert(
    fc.property(written, written, (ours, theirs) => {
      const isOneNumber = readings(ours).some((number) => readings(theirs).includes(number));
      expect(forms(theirs).includes(foldId(ours))).toBe(isOneNumber);
    }),
    { numRuns: 1_000, examples: [["13", "19"]] },
  );
});

test("receipts do not name a part by the id in the answer if they write the number in another base", () => {
  expect(namedByReceipts(["255", "FF"])).toEqual(["FF"]);
  expect(namedByReceipts(["00ff", "FF"])).toEqual(["00ff", "FF"]);
  expect(namedByReceipts(["0191-own", "p-1", "p-2"])).toEqual(["0191-own", "p-1", "p-2"]);
  expect(namedByReceipts([])).toEqual([]);
});

test("opaque ids differ in case and zeros only, and folding again changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 65 }), rewriting, (id, change) => {
      fc.pre(id.trim() === id && !/[^\x20-\x7e]/.test(id));
      expect(foldId(rewrite(id, change))).toBe(foldId(id));
      expect(foldId(foldId(id))).toBe(foldId(id));
    }),
  );
});

test.each([
  ["A1B2C3D4", ["2712847316"]],
  ["2712847316", ["167814394646", "A1B2C3D4"]],
  ["10000000000000001", ["18446744073709551617", "2386F26FC10001"]],
  ["AbCxyz_9", []],
  ["f".repeat(65), []],
  ["", []],
  ["0", []],
] as const)("%s may also be written as %p", (id, others) => {
  expect(inOtherRadix(id)).toEqual([...others]);
});

test("an id of zeros is one, and not the same as none", () => {
  expect(["0", "000", "0x0"].map(foldId)).toEqual(["0", "0", "0"]);
  expect(foldId("")).toBe("");
});

test("an id of a million quotes keeps nobody waiting, nor does one that folds a step at a time", () => {
  const quotes = '"'.repeat(1_000_000);
  expect(bareId(`${quotes}7f${quotes}`)).toBe("7f");
  expect(foldId(`${'"0'.repeat(100_000)}7f${'"'.repeat(100_000)}`)).toBe("7F");
});
