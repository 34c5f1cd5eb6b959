import { expect, test } from "bun:test";
import type { SqlValue, Statement } from "./driver.ts";
import { createRowInsert } from "./row-insert.ts";

test("rows are written in order, 16 and 4 and 1 a statement, and nothing of them is kept, also of those that fail", () => {
  const lists = new Set<readonly SqlValue[]>();
  const written: SqlValue[] = [];
  const prepare = <Row>() => {
    const statement: Pick<Statement<Row>, "insert"> = {
      insert(bound) {
        lists.add(bound);
        if (bound.includes("bad")) throw new Error("refused");
        written.push(...bound);
        return written.length;
      },
    };
    return statement as Statement<Row>;
  };
  const insert = createRowInsert({ prepare }, { into: "t", columns: "a, b" });
  const rows = Array.from({ length: 21 }, (_, row) => [`a${row}`, `b${row}`]).flat();
  insert(rows);
  expect(() => insert(["bad", "row"])).toThrow("refused");
  expect(written).toEqual(rows);
  expect([...lists].map(({ length }) => length)).toEqual([32, 8, 2]);
  expect([...lists].flat().filter((value) => value !== null)).toEqual([]);
});
