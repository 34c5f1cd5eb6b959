import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ONE_STORE } from "../stories/one-store.ts";
import { CODE, isTest, type Rule, type Source } from "./source.ts";
import { inspect, lineOf } from "./syntax.ts";

const RUNNERS = ["test", "it", "describe", "t"];
const NEVER = ["skip", "only", "todo", "failing", "if", "todoIf"];
const RENAMED = ["xtest", "xit", "xdescribe", "fit", "fdescribe"];

/** Only a text with one of their names is parsed: most of the tests have none, and to parse them all takes seconds. */
const MAY_SKIP = new RegExp(`\\.\\s*(${[...NEVER, "skipIf"].join("|")})\\b|\\b(${RENAMED.join("|")})\\b`);

/** A condition that is false in CI, and the reason: `test.skipIf(!hasX && !CI)(…); // skipped: no X here`. */
const EXCUSE = /\bCI\b.*\/\/ skipped: \S/;

export const noSilentSkips: Rule = {
  name: "no test is skipped or focused, unless it says why and runs in CI",
  check(source) {
    if (!CODE.test(source.path) || !isTest(source.path) || !MAY_SKIP.test(source.text)) return [];
    return inspect(source, (node) => {
      const skip = skipOf(node);
      if (skip === undefined || (skip === "skipIf" && isExcused(source, node))) return undefined;
      return `${skip}: a test runs, or it says why on its line ("… CI … // skipped: reason") and runs in CI`;
    });
  },
};

const STORIES = "test/stories/";
const LIST = `${STORIES}one-store.ts`;
const ON_BOTH = /^on(BothStores|EveryStore)\(/m;

export const storiesAreToldOnBothStores: Rule = {
  name: `every story is told on both stores, or ${LIST} says why not`,
  check({ path, text }) {
    const violation = (message: string) => ({ path, line: 1, message });
    if (path === LIST) {
      const gone = Object.keys(ONE_STORE).filter((name) => !existsSync(join(process.cwd(), STORIES, name)));
      return gone.map((name) => violation(`${name} is not there`));
    }
    if (!path.startsWith(STORIES) || !path.endsWith(".test.ts")) return [];
    const isListed = ONE_STORE[path.slice(STORIES.length)] !== undefined;
    if (isListed !== ON_BOTH.test(text)) return [];
    return [violation(isListed ? `${LIST} lists it, though it is told on both` : "it is told on one store")];
  },
};

export const alikeObjectsAreEachCompared: Rule = {
  name: "toMatchObject is given no object twice",
  check(source) {
    if (!source.text.includes("toMatchObject")) return [];
    return inspect(source, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
      if (node.expression.name.text !== "toMatchObject" || !node.arguments.some(isRepeating))
        return undefined;
      return "toMatchObject compares an object only where it meets it first: make it anew for each place";
    });
  },
};

export const pagesAreLookedAtFromOutside: Rule = {
  name: "no page of the console waits for itself",
  check(source) {
    if (!isTest(source.path) || !source.text.includes("waitForFunction")) return [];
    return inspect(source, (node) => {
      if (!ts.isPropertyAccessExpression(node) || node.name.text !== "waitForFunction") return undefined;
      return "its second look at a text is an eval, which the page's policy forbids: until(() => page.evaluate(…))";
    });
  },
};

/** Whether the same object is in it more than once: by `fill`, or by name in one array. */
function isRepeating(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node) && node.name.text === "fill") return true;
  if (ts.isArrayLiteralExpression(node)) {
    const names = node.elements.filter(ts.isIdentifier).map(({ text }) => text);
    const objects = names.filter((name) => name !== "undefined");
    if (new Set(objects).size < objects.length) return true;
  }
  return ts.forEachChild(node, (child) => isRepeating(child) || undefined) ?? false;
}

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
