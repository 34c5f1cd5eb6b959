import { posix } from "node:path";
import ts from "typescript";
import { CODE, isBuild, type Rule, type Source } from "./source.ts";
import { inspect, parse } from "./syntax.ts";

/** Words that say nothing about what a thing is. */
const BANNED = ["manager", "service", "helper", "util", "utility", "common", "base", "impl", "dto"];
const BANNED_FILES = ["types", "index"];
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|contract|d))?\.(ts|tsx|js|mjs)$/;

export const filesAreNamedAfterWhatTheyHold: Rule = {
  name: "files are kebab-case, named after the main thing they export",
  check(source) {
    if (!CODE.test(source.path)) return [];
    const name = posix.basename(source.path);
    if (KEBAB.test(name)) return [];
    return [{ path: source.path, line: 1, message: `${name} is not kebab-case` }];
  },
};

export const fileNamesSaySomething: Rule = {
  name: "no file or folder has a name that says nothing",
  check(source) {
    const words = source.path.split("/").flatMap((segment) => segment.toLowerCase().split(/[-_.]/));
    const banned = words.filter(isBanned);
    const stem = posix.basename(source.path).split(".")[0] ?? "";
    if (BANNED_FILES.includes(stem)) banned.push(stem);
    return banned.map((word) => ({
      path: source.path,
      line: 1,
      message: `"${word}" in a name says nothing`,
    }));
  },
};

export const declaredNamesSaySomething: Rule = {
  name: "no function or type has a name that says nothing",
  check: (source) => (isBuild(source.path) ? inspect(source, emptyName) : []),
};

export const noBarrels: Rule = {
  name: "no file only passes on what others export",
  check(source) {
    if (!isBuild(source.path)) return [];
    const statements = parse(source).statements;
    const isBarrel =
      statements.length > 0 &&
      statements.every((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier);
    return isBarrel ? [barrel(source)] : [];
  },
};

function barrel(source: Source) {
  return { path: source.path, line: 1, message: "a barrel: import from where the thing is" };
}

function isBanned(word: string): boolean {
  return BANNED.some((banned) => word === banned || word === `${banned}s`);
}

function emptyName(node: ts.Node): string | undefined {
  const name = declaredName(node);
  if (name === undefined) return undefined;
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(" ");
  const last = words.at(-1)?.toLowerCase() ?? "";
  const isEmpty = isBanned(last) || /^(Base|Abstract)[A-Z]/.test(name);
  const hasPrefix = ts.isInterfaceDeclaration(node) && /^I[A-Z][a-z]/.test(name);
  return isEmpty || hasPrefix ? `${name} says nothing about what it is` : undefined;
}

function declaredName(node: ts.Node): string | undefined {
  const isNamed =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node);
  return isNamed ? node.name?.text : undefined;
}
