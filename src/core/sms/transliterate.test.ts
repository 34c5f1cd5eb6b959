import { expect, test } from "bun:test";
import fc from "fast-check";
import { gsm7Length } from "./gsm7.ts";
import { charactersOf, charactersOutsideGsm7, transliterate } from "./transliterate.ts";

test.each([
  ["“Don’t” – she said…", `"Don't" - she said...`],
  ["Pay ₹500 by 5\u00a0pm", "Pay Rs.500 by 5 pm"],
  ["a\u200bb\ufeff\u00adc", "abc"],
  ["• one\t× 2", "* one x 2"],
  ["`code` © ® ™", "'code' (C) (R) TM"],
  ["line\u2028line", "line\nline"],
  ["cafe\u0301 o\u0308 a\u030a \u2126", "café ö å Ω"],
])("%p becomes %p", (text, plain) => {
  expect(transliterate(text)).toBe(plain);
});

test.each(["“नमस्ते”", "₹5 😀", "olá – você", "a\u0301 e\u0301", "क्\u200dष ’"])(
  "%p stays as it is, for it would not be GSM-7 anyway",
  (text) => {
    expect(transliterate(text)).toBe(text);
  },
);

test("what GSM-7 can write stays as it is, and whatever is changed can then be written", () => {
  const units = fc.constantFrom(..."aZ@£Δ€{}\n ’“”–…₹\u00a0\t`न😀é");
  fc.assert(
    fc.property(fc.string({ unit: units, maxLength: 60 }), (text) => {
      const plain = transliterate(text);
      if (gsm7Length(text) !== undefined) expect(plain).toBe(text);
      if (plain !== text) expect(gsm7Length(plain)).toBeDefined();
      expect(transliterate(plain)).toBe(plain);
    }),
  );
});

test("of a text with many such characters no more are looked for than are wanted", () => {
  const asked: string[] = [];
  const isMeant = (character: string) => asked.push(character) > 0 && character !== "a";
  expect(charactersOf("aabbcdcc".repeat(9), isMeant, 2)).toEqual(["b", "c"]);
  expect(asked).toEqual(["a", "b", "c"]);
});

test("the characters that force UCS-2 are named once each, in order, and whole", () => {
  expect(charactersOutsideGsm7("Plain @ €5 [ok]")).toEqual([]);
  expect(charactersOutsideGsm7("₹5 – “₹6”, 👨‍👩‍👧 e\u0301")).toEqual([
    "₹",
    "–",
    "“",
    "”",
    "👨‍👩‍👧",
    "e\u0301",
  ]);
});

test("a text forces UCS-2 exactly if a character of it is named", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      expect(charactersOutsideGsm7(text).length === 0).toBe(gsm7Length(text) !== undefined);
    }),
  );
});
