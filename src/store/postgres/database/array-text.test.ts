import { expect, test } from "bun:test";
import { withDriver } from "../postgres-world.contract.ts";

const TEXTS = [
  ...["", " ", "plain", "NULL", "null", "a,b", "{}", "{a}", '"', '""', "\\", '\\"', "\\n", "a\\"],
  ...[
    "\n",
    "\t",
    "\u0001",
    '\u001f"\\',
    "\u007f",
    "\u2028",
    "ñ✓😀",
    '{"a":"\\"b\\\\n"}',
    "\0",
    "\ue000",
    "-1",
    "1e3",
  ],
];

test("elements of arrays arrive as they were sent", () =>
  withDriver(async (driver) => {
    const rows = await driver.query<{ text: string }>("SELECT unnest($1::text[]) AS text", [TEXTS]);
    expect(rows.map(({ text }) => text)).toEqual(TEXTS);
    const others = [["1", null], [true, false, null], [], [2 ** 53 - 1, -1, 0]];
    const [row] = await driver.query(
      "SELECT $1::text[] AS texts, $2::bool[] AS flags, $3::int[] AS none, $4::bigint[] @> ARRAY[9007199254740991] AS holds",
      others,
    );
    expect(row).toEqual({ texts: others[0], flags: others[1], none: [], holds: true });
  }));
