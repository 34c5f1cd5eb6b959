import ts from "typescript";
import { CODE, isTest, type Rule, type Source } from "./source.ts";
import { inspect, lineOf } from "./syntax.ts";

const RUNNERS = ["test", "it", "describe", "t"];
const NEVER = ["skip", "only", "todo", "failing", "if", "todoIf"];
const RENAMED = ["xtest", "xit", "xdescribe", "fit", "fdescribe"];

/** A condition that is false in CI, and the reason: `test.skipIf(!hasX && !CI)(…); // skipped: no X here`. */
const EXCUSE = /\bCI\b.*\/\/ skipped: \S/;

export const noSilentSkips: Rule = {
  name: "no test is skipped or focused, unless it says why and runs in CI",
  check(source) {
    if (!CODE.test(source.path) || !isTest(source.path)) return [];
    return inspect(source, (node) => {
      const skip = skipOf(node);
      if (skip === undefined || (skip === "skipIf" && isExcused(source, node))) return undefined;
      return `${skip}: a test runs, or it says why on its line ("… CI … // skipped: reason") and runs in CI`;
    });
  },
};

function skipOf(node: ts.Node): string | undefined {
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
    return RENAMED.includes(node.expression.text) ? node.expression.text : undefined;
  }
  if (!ts.isPropertyAccessExpression(node) || !RUNNERS.includes(leftmost(node))) return undefined;
  return node.name.text === "skipIf" || NEVER.includes(node.name.text) ? node.name.text : undefined;
}

/** `describe` in `describe.skip.each([…])`. */
function leftmost(node: ts.Node): string {
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return leftmost(node.expression);
  return ts.isIdentifier(node) ? node.text : "";
}

function isExcused(source: Source, node: ts.Node): boolean {
  const line = source.text.split("\n")[lineOf(source, node.getStart()) - 1] ?? "";
  return EXCUSE.test(line);
}
