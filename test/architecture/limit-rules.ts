import ts from "typescript";
import { CODE, isBuild, type Rule, type Source, type Violation } from "./source.ts";
import { inspect, lineOf } from "./syntax.ts";

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 50;
const MAX_PARAMETERS = 3;
const MAX_NESTING = 3;

export const filesAreShort: Rule = {
  name: `a file has at most ${MAX_FILE_LINES} lines`,
  check(source) {
    if (!CODE.test(source.path)) return [];
    const lines = source.text.replace(/\n$/, "").split("\n").length;
    if (lines <= MAX_FILE_LINES) return [];
    return [{ path: source.path, line: lines, message: `${lines} lines, of ${MAX_FILE_LINES} at most` }];
  },
};

export const functionsAreShort: Rule = {
  name: `a function has at most ${MAX_FUNCTION_LINES} lines`,
  check: (source) =>
    inBuild(source, (node) => {
      if (!ts.isFunctionLike(node) || !("body" in node) || !node.body) return undefined;
      const lines = lineOf(source, node.end) - lineOf(source, node.getStart()) + 1;
      return lines > MAX_FUNCTION_LINES ? `${lines} lines, of ${MAX_FUNCTION_LINES} at most` : undefined;
    }),
};

export const fewPositionalParameters: Rule = {
  name: `at most ${MAX_PARAMETERS} positional parameters, then an object`,
  check: (source) =>
    inBuild(source, (node) => {
      if (!ts.isFunctionLike(node)) return undefined;
      const count = node.parameters.filter((parameter) => parameter.name.getText() !== "this").length;
      return count > MAX_PARAMETERS
        ? `${count} parameters; beyond ${MAX_PARAMETERS}, take an object`
        : undefined;
    }),
};

export const shallowNesting: Rule = {
  name: `blocks nest at most ${MAX_NESTING} deep`,
  check: (source) =>
    inBuild(source, (node) => {
      if (!isControl(node)) return undefined;
      const depth = depthOf(node);
      return depth === MAX_NESTING + 1 ? `nested ${depth} deep, of ${MAX_NESTING} at most` : undefined;
    }),
};

function inBuild(source: Source, visit: (node: ts.Node) => string | undefined): readonly Violation[] {
  return isBuild(source.path) ? inspect(source, visit) : [];
}

/** Statements that open a level; `else if` stays on its level. */
function isControl(node: ts.Node): boolean {
  if (ts.isIfStatement(node)) return !(ts.isIfStatement(node.parent) && node.parent.elseStatement === node);
  return ts.isIterationStatement(node, false) || ts.isSwitchStatement(node) || ts.isTryStatement(node);
}

/** The nesting of a node within its function, its own level included. */
function depthOf(node: ts.Node): number {
  let depth = 0;
  for (let at: ts.Node | undefined = node; at && !ts.isFunctionLike(at); at = at.parent) {
    if (isControl(at)) depth++;
  }
  return depth;
}
