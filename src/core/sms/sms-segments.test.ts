import { expect, test } from "bun:test";
import fc from "fast-check";
import { SegmentedMessage } from "sms-segments-calculator";
import { gsm7Length } from "./gsm7.ts";
import { isTooLong, MAX_SEGMENTS, segmentSms } from "./sms-segments.ts";

const sizes = (text: string, concat?: "udh8" | "udh16") =>
  segmentSms(text, concat).parts.map((part) => gsm7Length(part) ?? part.length);

test("GSM-7 holds 160 alone, 153 beside an 8-bit header, 152 beside a 16-bit one", () => {
  expect(sizes("a".repeat(160))).toEqual([160]);
  expect(sizes("a".repeat(161))).toEqual([153, 8]);
  expect(sizes("a".repeat(306))).toEqual([153, 153]);
  expect(sizes("a".repeat(307))).toEqual([153, 153, 1]);
  expect(sizes("a".repeat(161), "udh16")).toEqual([152, 9]);
});

test("UCS-2 holds 70 alone, 67 beside an 8-bit header, 66 beside a 16-bit one", () => {
  expect(segmentSms("न".repeat(70))).toEqual({ encoding: "ucs2", parts: ["न".repeat(70)], units: 70 });
  expect(sizes("ж".repeat(71))).toEqual([67, 4]);
  expect(sizes("ж".repeat(71), "udh16")).toEqual([66, 5]);
});

test("an extension character is never cut: the part is one short instead", () => {
  expect(sizes(`${"a".repeat(152)}€${"b".repeat(20)}`)).toEqual([152, 22]);
  expect(sizes("€".repeat(80))).toEqual([160]);
  expect(sizes("€".repeat(81))).toEqual([152, 10]);
});

test("a surrogate pair is never cut", () => {
  expect(sizes("😀".repeat(35))).toEqual([70]);
  expect(sizes("😀".repeat(36))).toEqual([66, 6]);
});

test("a family emoji stays whole, and one that fills more than a part is cut between code points", () => {
  const family = "👨‍👩‍👧";
  expect(segmentSms("ж".repeat(62) + family + "ж".repeat(10)).parts[1]).toBe(family + "ж".repeat(10));
  const monster = `e${"\u0301".repeat(200)}`;
  expect(sizes(monster)).toEqual([67, 67, 67]);
  const emoji = `😀${"\u{1F3FB}".repeat(99)}`;
  for (const part of segmentSms(emoji).parts) expect(part.isWellFormed()).toBe(true);
});

test("a line break of CR and LF is never cut, in either encoding", () => {
  expect(segmentSms(`${"a".repeat(152)}\r\n${"b".repeat(20)}`).parts[1]).toBe(`\r\n${"b".repeat(20)}`);
  expect(segmentSms(`${"ж".repeat(66)}\r\n${"ж".repeat(20)}`).parts[1]).toBe(`\r\n${"ж".repeat(20)}`);
  expect(sizes("\r\n".repeat(80))).toEqual([160]);
  expect(sizes("\r\n".repeat(81))).toEqual([152, 10]);
});

test("an empty text is one empty part", () => {
  expect(segmentSms("")).toEqual({ encoding: "gsm7", parts: [""], units: 0 });
});

const gsmCharacter = fc.constantFrom("\r\n", ...'@£$èÇ\nØåΔΩÉ !"#¤09?¡AZÄÜ§¿azñà^{}\\[~]|€');
const wideCharacter = fc.constantFrom(..."अकжш₹`“…漢", "😀", "👍🏽", "👨‍👩‍👧", "e\u0301");

const texts = fc.oneof(
  fc.array(gsmCharacter, { maxLength: 700, size: "max" }),
  fc.array(fc.oneof(gsmCharacter, wideCharacter), { maxLength: 500, size: "max" }),
);

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Where a text may be cut: before each grapheme cluster, and also inside of one that is longer than a part. */
function cutsOf(text: string, limit: number): ReadonlySet<number> {
  const isShort = ({ segment }: Intl.SegmentData) => (gsm7Length(segment) ?? segment.length) <= limit;
  return new Set(
    [...graphemes.segment(text)].flatMap((cluster) => {
      const inside = isShort(cluster) ? 0 : cluster.segment.length - 1;
      return Array.from({ length: 1 + inside }, (_, i) => cluster.index + i);
    }),
  );
}

test("the parts of any text join to it, keep their limit and cut no character", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        texts.map((t) => t.join("")),
        fc.string({ unit: "binary", maxLength: 600, size: "max" }),
      ),
      (text) => {
        for (const concat of ["udh8", "udh16"] as const) {
          const { encoding, parts } = segmentSms(text, concat);
          expect(parts.join("")).toBe(text);
          const limit = { gsm7: { udh8: 153, udh16: 152 }, ucs2: { udh8: 67, udh16: 66 } }[encoding][concat];
          const single = encoding === "gsm7" ? 160 : 70;
          const cuts = cutsOf(text, limit);
          let end = 0;
          for (const part of parts.slice(0, -1)) {
            end += part.length;
            expect(cuts).toContain(end);
          }
          for (const part of parts) {
            const size = encoding === "gsm7" ? gsm7Length(part)! : part.length;
            expect(size).toBeLessThanOrEqual(parts.length === 1 ? single : limit);
            if (parts.length > 1) expect(size).toBeGreaterThan(0);
            if (text.isWellFormed()) expect(part.isWellFormed()).toBe(true);
          }
        }
      },
    ),
  );
});

test("an independent calculator finds the same alphabet and the same parts", () => {
  fc.assert(
    fc.property(texts, (characters) => {
      // It cuts between CR and LF, which are one character as Unicode counts.
      const text = characters.join("").replace(/\r+\n/g, "\n");
      const witness = new SegmentedMessage(text);
      const ours = segmentSms(text);
      expect(ours.encoding).toBe(witness.encodingName === "GSM-7" ? "gsm7" : "ucs2");
      expect(ours.parts.length).toBe(witness.segmentsCount);
    }),
    { numRuns: 300 },
  );
});

test("a text is too long when it needs more segments than can be counted, whatever it is made of", () => {
  const family = "👨‍👩‍👧‍👦";
  const pieces = ["x", "€", "й", "😀", family, `${family}${family}${family}!`, "e\u0301"];
  for (const piece of pieces) {
    const { parts } = segmentSms(piece.repeat(2_000));
    const most = Math.floor((2_000 * MAX_SEGMENTS) / parts.length);
    for (const count of [1, most - 200, most - 1, most, most + 1, most + 200, 3 * most]) {
      const text = piece.repeat(Math.max(1, count));
      expect(isTooLong(text)).toBe(segmentSms(text).parts.length > MAX_SEGMENTS);
    }
  }
});
