import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { readDltCsv } from "./dlt-csv.ts";

const HEAD = "Template ID,Template Content";

test("any text is a sheet or a problem, and never anything else", async () => {
  const piece = fc.constantFrom(
    '"',
    ",",
    "\n",
    "\r\n",
    ";",
    "\t",
    "=",
    "'",
    "a",
    "1107161234567890123",
    "\u0000",
    "é",
    "{#var#}",
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 60, size: "max" }).map((pieces) => pieces.join("")),
  );
  await fc.assert(
    fc.asyncProperty(text, fc.boolean(), async (body, hasHead) => {
      const read = await readDltCsv(hasHead ? `${HEAD}\n${body}` : body);
      if ("problem" in read) return read.problem.length > 0;
      return read.rows.every(({ line }) => line >= 1 && line <= body.split(/\r\n?|\n/).length + 1);
    }),
  );
});

test("what was quoted comes back as it was, on the line where it began", async () => {
  const cell = fc.string().map((text) => text.replace(/\r\n?/g, "\n"));
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1 }), async (cells) => {
      const rows = cells.map((text) => `1107,"${text.replaceAll('"', '""')}"`);
      const read = await readDltCsv(`${HEAD}\n${rows.join("\n")}\n`);
      if ("problem" in read) throw new Error(read.problem);
      let line = 2;
      const expected = cells.map((text) => {
        const row = { line, text };
        line += text.split("\n").length;
        return row;
      });
      const isKept = (text: string) => !/^"[\s\S]+"$/.test(text);
      const found = read.rows.map((row) => ({ line: row.line, text: row.cells[1] }));
      expect(found.filter((_, index) => isKept(cells[index] ?? ""))).toEqual(
        expected.filter(({ text }) => isKept(text)),
      );
    }),
  );
});

test("other work goes on while a long list is read", async () => {
  let isRead = false;
  let turns = 0;
  const reading = readDltCsv(`${HEAD}\n${"1107161234567890123,x\n".repeat(10_000)}`).then(() => {
    isRead = true;
  });
  for (; !isRead; turns++) await setImmediate();
  expect(turns).toBeGreaterThan(4);
  await reading;
});
