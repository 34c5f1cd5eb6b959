import { expect, test } from "bun:test";
import { decodeGsm7 } from "./gsm7.ts";
import { type NationalLanguages, nationalGsm7 } from "./gsm7-national.ts";

const read = (hex: string, languages: NationalLanguages) =>
  decodeGsm7(Buffer.from(hex, "hex"), nationalGsm7(languages));

/** The 128 codes in order, without ESC. */
const ALL = [...Array(128).keys()].filter((code) => code !== 0x1b);
const allAlone = Buffer.from(ALL).toString("hex");
const allEscaped = Buffer.from(ALL.flatMap((code) => [0x1b, code])).toString("hex");

const codePoints = (text: string) => [...text].map((each) => each.codePointAt(0)?.toString(16)).join(" ");

test("the locking shift table of Hindi is that of annex A.3.6, row by row", () => {
  const text = read(allAlone, { locking: 6 });
  const lower = "abcdefghijklmnopqrstuvwxyz";
  expect(text.replaceAll(/[\n\r]/g, "")).toBe(
    [
      "\u0901\u0902\u0903\u0905\u0906\u0907\u0908\u0909\u090a\u090b\u090c\u090d\u090e\u090f",
      "\u0910\u0911\u0912\u0913\u0914\u0915\u0916\u0917\u0918\u0919\u091a\u091b\u091c\u091d\u091e",
      " !\u091f\u0920\u0921\u0922\u0923\u0924)(\u0925\u0926,\u0927.\u0928",
      "0123456789:;\u0929\u092a\u092b?",
      "\u092c\u092d\u092e\u092f\u0930\u0931\u0932\u0933\u0934\u0935\u0936\u0937\u0938\u0939\u093c\u093d",
      "\u093e\u093f\u0940\u0941\u0942\u0943\u0944\u0945\u0946\u0947\u0948\u0949\u094a\u094b\u094c\u094d",
      `\u0950${lower}\u0972\u097b\u097c\u097e\u097f`,
    ].join(""),
  );
  expect([text[0x0a], text[0x0d]]).toEqual(["\n", "\r"]);
});

test("the single shift table of Hindi is that of annex A.2.6; what it leaves void is read from the alphabet", () => {
  const text = read(allEscaped, { single: 6 });
  expect(text.slice(0, 0x40)).toBe(
    [
      "@£$¥¿\"¤%&'\f*+\r-/",
      "<=>¡^¡_#*\u0964\u0965\u0966\u0967\u0968\u0969",
      "\u096a\u096b\u096c\u096d\u096e\u096f\u0951\u0952{}\u0953\u0954\u0958\u0959\u095a\\",
      "\u095b\u095c\u095d\u095e\u095f\u0960\u0961\u0962\u0963\u0970\u0971;[~]?|",
    ].join(""),
  );
  expect(text.slice(0x40)).toBe("ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcd€fghijklmnopqrstuvwxyzäöñüà");
});

/** Of each language, the codes 0x60 and 0x7B to 0x7F, the last ones of its locking shift table. */
test.each([
  ["Bengali", 4, "9ce 9d7 9dc 9dd 9f0 9f1"],
  ["Gujarati", 5, "ad0 ae0 ae1 ae2 ae3 af1"],
  ["Hindi", 6, "950 972 97b 97c 97e 97f"],
  ["Kannada", 7, "cd5 cd6 ce0 ce1 ce2 ce3"],
  ["Malayalam", 8, "d57 d60 d61 d62 d63 d79"],
  ["Oriya", 9, "b56 b57 b60 b61 b62 b63"],
  ["Punjabi", 10, "a51 a70 a71 a72 a73 a74"],
  ["Tamil", 11, "bd0 bd7 bf0 bf1 bf2 bf9"],
  ["Telugu", 12, "c55 c56 c60 c61 c62 c63"],
  ["Urdu", 13, "654 655 651 653 656 670"],
])("the locking shift table of %s fills its whole frame", (_, locking, last) => {
  expect(codePoints(read("607b7c7d7e7f", { locking }))).toBe(last);
  expect(read("202128292c2e30393a3b3f617a", { locking })).toBe(" !)(,.09:;?az");
});

/** Of each language, codes 0x19 to 0x28 of its single shift table, and the last one that has a letter of its own. */
test.each([
  ["Bengali", 4, "9e6 9e7 9e8 9e9 9ea 9eb 9ec 9ed 9ee 9ef 9df 9e0 9e1 9e2 7b", "34", "9fa"],
  ["Gujarati", 5, "964 965 ae6 ae7 ae8 ae9 aea aeb aec aed aee aef 26 27 7b", "25", "aef"],
  ["Kannada", 7, "964 965 ce6 ce7 ce8 ce9 cea ceb cec ced cee cef cde cf1 7b", "2a", "cf2"],
  ["Malayalam", 8, "964 965 d66 d67 d68 d69 d6a d6b d6c d6d d6e d6f d70 d71 7b", "34", "d7f"],
  ["Oriya", 9, "964 965 b66 b67 b68 b69 b6a b6b b6c b6d b6e b6f b5c b5d 7b", "2c", "b71"],
  ["Punjabi", 10, "964 965 a66 a67 a68 a69 a6a a6b a6c a6d a6e a6f a59 a5a 7b", "2d", "a75"],
  ["Tamil", 11, "964 965 be6 be7 be8 be9 bea beb bec bed bee bef bf3 bf4 7b", "2e", "bfa"],
  ["Telugu", 12, "398 39e c66 c67 c68 c69 c6a c6b c6c c6d c6e c6f c58 c59 7b", "32", "c7f"],
  ["Urdu", 13, "600 601 6f0 6f1 6f2 6f3 6f4 6f5 6f6 6f7 6f8 6f9 60c 60d 7b", "3f", "6d4"],
])("the single shift table of %s has its letters at their codes", (_, single, digits, lastCode, last) => {
  const escaped = [
    0x19,
    0x1a,
    ...Array(13)
      .keys()
      .map((at) => 0x1c + at),
  ].flatMap((code) => [0x1b, code]);
  expect(codePoints(read(Buffer.from(escaped).toString("hex"), { single }))).toBe(digits);
  expect(codePoints(read(`1b${lastCode}`, { single }))).toBe(last);
  expect(read("1b411b651b401b2f", { single })).toBe("A€|\\");
});

test("places that a script has no letter for are blanks", () => {
  expect(read("080910111213", { locking: 11 })).toBe("\u0b8a \u0b90 \u0b92\u0b93");
});

test("the letters of Urdu are those of annex A.3.13", () => {
  const codes = (first: number) => Buffer.from(Array.from({ length: 16 }, (_, at) => first + at));
  const row = (first: number) => codePoints(read(codes(first).toString("hex"), { locking: 13 }));
  expect(row(0x00)).toBe("627 622 628 67b 680 67e 6a6 62a 6c2 67f a 679 67d d 67a 67c");
  expect(row(0x40)).toBe("635 636 637 638 639 641 642 6a9 6aa 6ab 6af 6b3 6b1 644 645 646");
  expect(row(0x50)).toBe("6ba 6bb 6bc 648 6c4 6d5 6c1 6be 621 6cc 6d0 6d2 64d 650 64f 657");
  expect(codePoints(read("1011191a1c1f222327", { locking: 13 }))).toBe("62b 62c 62e 62f 68c 68a 68f 68d 693");
  expect(codePoints(read("2a2b2d2f3c3d3e", { locking: 13 }))).toBe("699 632 696 698 69a 633 634");
});

test("Turkish, Spanish and Portuguese differ from the standard tables in their letters only", () => {
  const differences = (hex: string, languages: NationalLanguages) => {
    const standard = read(hex, {});
    return [...read(hex, languages)].filter((each, at) => each !== standard[at]).join("");
  };
  expect(differences(allAlone, { locking: 1 })).toBe("€ıĞğŞşİç");
  expect(differences(allEscaped, { single: 1 })).toBe("ĞİŞçğış");
  expect(differences(allAlone, { locking: 2 })).toBe("");
  expect(differences(allEscaped, { single: 2 })).toBe("çÁÍÓÚáíóú");
  expect(differences(allAlone, { locking: 3 })).toBe("êúíóçÔôÁáªÇÀ∞^\\€Ó|ÂâÊºÍÃÕÚ~ãõ`");
  expect(differences(allEscaped, { single: 3 })).toBe("êçÔôÁáÊÀÍÓÚÃÕÂíóúãõâ");
  expect(read("1b121b131b141b151b161b171b181b19", { locking: 3, single: 3 })).toBe("ΦΓ^ΩΠΨΣΘ");
});

test("a language that is not known changes nothing", () => {
  expect(read(allAlone, { locking: 14 })).toBe(read(allAlone, {}));
  expect(read(allEscaped, { single: 0xff })).toBe(read(allEscaped, {}));
});
