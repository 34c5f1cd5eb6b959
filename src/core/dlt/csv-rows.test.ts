import { expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { csvRows } from "./csv-rows.ts";

test("rows are what another reader of CSV makes of the same text, on the lines where they begin", () => {
  const piece = fc.constantFrom('"', '""', ",", ";", "\n", "a", " ", "é", "😀");
  const text = fc.array(piece, { maxLength: 40, size: "max" }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, fc.constantFrom(",", ";"), (csv, delimiter) => {
      expect([...csvRows(csv, delimiter)]).toEqual([...witness(csv, delimiter)]);
    }),
    { numRuns: 300 },
  );
});

test("a quote that is not closed is told by the line on which it opens", () => {
  const [, problem] = csvRows('a,b\nc,"d\n\n', ",");
  expect(problem).toEqual({ problem: "the quote that opens on line 2 is not closed" });
});

function* witness(csv: string, delimiter: string): ReturnType<typeof csvRows> {
  const options = { delimiter, info: true, relax_column_count: true, relax_quotes: true } as const;
  let rows: readonly { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
  try {
    rows = parse(csv, {
      ...options,
      record_delimiter: "\n",
      skip_empty_lines: true,
    }) as unknown as typeof rows;
  } catch {
    // What comes before a quote that is not closed is ours to give.
    yield* [...csvRows(csv, delimiter)].slice(0, -1);
    yield { problem: expect.stringContaining("is not closed") };
    return;
  }
  for (const { record, info } of rows) {
    const breaks = record.join("").split("\n").length - 1;
    // Its line is the one on which the row ends.
    yield { line: info.lines - breaks, cells: record };
  }
}
