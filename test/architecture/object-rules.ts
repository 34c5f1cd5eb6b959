import ts from "typescript";
import { CODE, type Rule } from "./source.ts";
import { inspect } from "./syntax.ts";

/** Only a text with one of them is parsed: to parse all tests takes seconds. */
const MAY_SPREAD = /\.\.\.\s*\(*\s*\{/;

export const objectsAreWrittenOut: Rule = {
  name: "no object spreads a literal into itself",
  check(source) {
    if (!CODE.test(source.path) || !MAY_SPREAD.test(source.text)) return [];
    return inspect(source, (node) => {
      const isNested = ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(bare(node.expression));
      return isNested ? "write its properties without the spread" : undefined;
    });
  },
};

/** The expression without its brackets and its asserted type. */
function bare(node: ts.Expression): ts.Expression {
  const isDressed =
    ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node);
  return isDressed ? bare(node.expression) : node;
}
