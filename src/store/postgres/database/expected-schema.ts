/** What the reviewed dump of the schema names, for comparing a database with it. */
import schema from "../schema.sql" with { type: "text" };

/** A table, a sequence, or what belongs to a table. */
export interface SchemaPart {
  /** `jobs`, or with what belongs to it: `jobs jobs_ready`. A column that gets a value by itself ends with `VALUED`. */
  readonly name: string;
  /** The table that it belongs to, or that it is. */
  readonly table: string;
  /** The dump's line, for the operator. */
  readonly words: string;
}

export const VALUED = " with a value";

export const EXPECTED: readonly SchemaPart[] = partsOf(schema);

/** The columns whose values count up. */
export const COUNTED = EXPECTED.filter(({ words }) => / AS IDENTITY$/.test(words)).map(({ name, table }) => ({
  table,
  column: name.slice(table.length + 1, -VALUED.length),
}));

function partsOf(dump: string): readonly SchemaPart[] {
  let table = "";
  return dump.split("\n").flatMap((line) => {
    const [kind, name = ""] = line.split(" ");
    if (line.startsWith("  ")) return toPart(table, line.trim());
    if (kind !== "TABLE" && kind !== "SEQUENCE") return [];
    table = name;
    return [{ name, table, words: `${kind} ${name}` }];
  });
}

/** Of a line that belongs to a table: a column, a constraint or an index. */
function toPart(table: string, line: string): readonly SchemaPart[] {
  if (line === "REPLICA IDENTITY FULL") return [];
  const name = /^(?:CREATE (?:UNIQUE )?INDEX )?(\w+)/.exec(line)?.[1];
  const end = / DEFAULT | AS IDENTITY$/.test(line) ? VALUED : "";
  return [{ name: `${table} ${name}${end}`, table, words: `${table}: ${line}` }];
}
