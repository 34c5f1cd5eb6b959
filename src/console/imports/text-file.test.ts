import { expect, test } from "bun:test";
import { chunksOf, readEntries } from "./suppression-file.ts";
import { decodeText, readCsv, rowText } from "./text-file.ts";

const octets = (text: string) => new TextEncoder().encode(text);

test("text is read in the encodings that spreadsheets save, and in no other", () => {
  const unicode = new Uint8Array([
    0xff,
    0xfe,
    ...new Uint8Array(new Uint16Array([...Buffer.from("a\r\nb")]).buffer),
  ]);
  expect(decodeText(octets("\uFEFFé\r\nb\rc\n"))).toEqual({ text: "é\nb\nc\n" });
  expect(decodeText(unicode)).toEqual({ text: "a\nb" });
  expect(decodeText(Uint8Array.of(0x61, 0xe9, 0x0a))).toEqual({
    problem: "is not UTF-8: save it as CSV (UTF-8)",
  });
  for (const rest of ["plain", "\u0000é"])
    expect(decodeText(octets(`PK\u0003\u0004${rest}`))).toEqual({
      problem: "is an Excel workbook: save it as CSV (UTF-8)",
    });
});

test("quoted values hold delimiters, quotes and line breaks, and rows keep the line they begin on", () => {
  const text = 'email, reason\n"a@b.c" ,"said ""no"",\nthen left"\n\n,\n d@e.f ,\n';
  expect(readCsv(text, ",")).toEqual([
    { line: 1, cells: ["email", "reason"] },
    { line: 2, cells: ["a@b.c", 'said "no",\nthen left'] },
    { line: 6, cells: ["d@e.f", ""] },
  ]);
  expect(rowText(text.split("\n"), 2)).toBe('"a@b.c" ,"said ""no"",\nthen left"');
  expect(readCsv('a\n"b\nc\n', ",")).toEqual({ problem: "has a quote on line 2 that is not closed" });
});

test("a list of suppressions is a table in any order and with any delimiter, JSON lines, or addresses alone", () => {
  const first = { line: 2, fields: { email: "ann@example.net", reason: "complaint" } };
  expect(readEntries("Reason;Phone;EMAIL\ncomplaint;1;ann@example.net\n;;\n")).toEqual({
    entries: [first],
    ignored: ["phone"],
  });
  expect(readEntries("email,reason,source,expires_at,created_at\nann@example.net,complaint,,,x\n")).toEqual({
    entries: [first],
    ignored: [],
  });
  expect(readEntries('\n{"reason":"complaint","email":"ann@example.net","expires_at":null}\n')).toEqual({
    entries: [first],
    ignored: [],
  });
  expect(readEntries("ann@example.net\n'+1@example.net,x\n")).toEqual({
    entries: [
      { line: 1, fields: { email: "ann@example.net" } },
      { line: 2, fields: { email: "+1@example.net" } },
    ],
    ignored: [],
  });
});

test("a file that is no such list says why", () => {
  expect(readEntries("")).toEqual({ problem: "holds no entries" });
  expect(readEntries("email,reason\n")).toEqual({ problem: "holds no entries" });
  expect(readEntries(' [{"email":"a@b.c"}]')).toEqual({
    problem: "is a JSON array: write JSON lines, an object each",
  });
  expect(readEntries('{"email":"a@b.c"}\n{"email":')).toEqual({ problem: "is no JSON object on line 2" });
});

test("entries are sent in pieces that a request may have", () => {
  const entry = (length: number) => ({ line: 1, fields: { email: "x".repeat(length) } });
  const lengths = (entries: Parameters<typeof chunksOf>[0]) => chunksOf(entries).map((chunk) => chunk.length);
  expect(lengths(Array.from({ length: 2_001 }, () => entry(10)))).toEqual([1_000, 1_000, 1]);
  expect(lengths([entry(200_000), entry(90_000), entry(90_000), entry(10)])).toEqual([2, 2]);
});
