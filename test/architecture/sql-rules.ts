import ts from "typescript";
import { isBuild, type Rule } from "./source.ts";
import { inspect } from "./syntax.ts";

/** Statements as programs write them, all upper or all lower case; a sentence that begins with `Select` is prose. */
const STATEMENTS = [
  "select\\s[\\s\\S]*\\sfrom\\s",
  "insert\\s+(or\\s+\\w+\\s+)?into\\s",
  "update\\s+\\w+\\s+set\\s",
  "delete\\s+from\\s",
  "create\\s+(unique\\s+|temp\\s+)?(table|index|view|trigger)\\s",
  "(alter|drop)\\s+(table|index)\\s",
  "pragma\\s+\\w",
  "begin\\s+(immediate|exclusive)\\b",
  "with\\s+(recursive\\s+)?\\w+\\s+as\\s*\\(",
];

const SQL = STATEMENTS.flatMap((statement) => [statement, upper(statement)]).map(
  (statement) => new RegExp(`^\\s*${statement}`),
);

export const sqlStaysInTheStore: Rule = {
  name: "SQL stays in store",
  check(source) {
    if (!source.path.startsWith("src/") || source.path.startsWith("src/store/")) return [];
    if (source.path.endsWith(".sql"))
      return [{ path: source.path, line: 1, message: "SQL belongs in src/store" }];
    if (!isBuild(source.path)) return [];
    return inspect(source, (node) => (isSql(node) ? "SQL belongs in src/store" : undefined));
  },
};

function isSql(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return false;
  const text = ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : node.text;
  return SQL.some((statement) => statement.test(text));
}

/** The same pattern for capital keywords; escapes such as `\s` keep their case. */
function upper(pattern: string): string {
  return pattern.replace(/\\\w|[a-z]+/g, (part) => (part.startsWith("\\") ? part : part.toUpperCase()));
}
