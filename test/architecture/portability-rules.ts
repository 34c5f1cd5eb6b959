import ts from "typescript";
import { isBuild, type Rule, type Source } from "./source.ts";
import { type Import, importsOf, inspect, violation } from "./syntax.ts";

const LISTENER = "src/cli/http/listen.ts";
const CONSOLE_BUILD = "src/cli/http/console-modules.ts";
const SQLITE_DRIVER = "src/store/sqlite/database/driver.ts";

const TIMERS = ["setTimeout", "setInterval"];
const TIMER_MODULES = ["node:timers", "node:timers/promises", "timers", "timers/promises", "node:perf_hooks"];
const RANDOM_NAMES = [
  "randomBytes",
  "randomUUID",
  "randomInt",
  "randomFill",
  "randomFillSync",
  "getRandomValues",
];
const READINGS: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  Math: ["random"],
  performance: ["now", "timeOrigin"],
  process: ["hrtime", "uptime"],
  AbortSignal: ["timeout"],
  crypto: RANDOM_NAMES,
};

export const timeAndChanceAreArguments: Rule = {
  name: "outside cli and console, time and chance are arguments",
  check: (source) =>
    isOutsideCli(source) && !source.path.startsWith("src/console/")
      ? [
          ...inspect(source, (node) => readingOf(node)),
          ...importsOf(source)
            .filter((found) => importsTimers(found) || found.names.some(isRandom))
            .map((found) =>
              violation(
                source,
                found.node,
                `${found.specifier} reads time or chance; take a Clock or Random`,
              ),
            ),
        ]
      : [],
};

export const onlyCliReadsTheEnvironment: Rule = {
  name: "only cli reads the environment",
  check: (source) =>
    isOutsideCli(source)
      ? inspect(source, (node) =>
          readsEnvironment(node) ? "only cli reads the environment; take what you need" : undefined,
        )
      : [],
};

export const bunStaysAtHome: Rule = {
  name: "Bun's own APIs stay in the listener, the SQLite driver and what is run to build",
  check(source) {
    if (!isBuild(source.path)) return [];
    return [...bunGlobals(source), ...bunImports(source)];
  },
};

function isOutsideCli(source: Source): boolean {
  return isBuild(source.path) && !source.path.startsWith("src/cli/");
}

function readingOf(node: ts.Node): string | undefined {
  const access = accessOf(node);
  if (access && READINGS[access.object]?.includes(access.name)) {
    return `${access.object}.${access.name} reads time or chance; take a Clock or Random`;
  }
  if (isBareDate(node)) return "a Date of now; take a Clock";
  return isTimer(node) ? `${node.getText()} waits by itself; use Clock.after` : undefined;
}

/** `setImmediate` lets others run and measures nothing. */
function importsTimers({ specifier, names }: Import): boolean {
  const isHarmless = names.length > 0 && names.every((name) => name === "setImmediate");
  return TIMER_MODULES.includes(specifier) && !isHarmless;
}

function isRandom(name: string): boolean {
  return RANDOM_NAMES.includes(name);
}

/** `a.b` and `a["b"]`, where `a` is a name (or `globalThis.a`). */
function accessOf(node: ts.Node): { object: string; name: string } | undefined {
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return undefined;
  const object = node.expression.getText().replace(/^globalThis\./, "");
  if (ts.isPropertyAccessExpression(node)) return { object, name: node.name.text };
  const key = node.argumentExpression;
  return ts.isStringLiteralLike(key) ? { object, name: key.text } : undefined;
}

function isBareDate(node: ts.Node): boolean {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return false;
  return node.expression.getText() === "Date" && (node.arguments?.length ?? 0) === 0;
}

/** The global itself, however it is used; not `socket.setTimeout`, which is a limit of the socket's own. */
function isTimer(node: ts.Node): boolean {
  if (!ts.isIdentifier(node) || !TIMERS.includes(node.text)) return false;
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    return parent.expression.getText() === "globalThis";
  }
  return !ts.isImportSpecifier(parent) && !isDeclaredName(parent, node);
}

function isDeclaredName(parent: ts.Node, node: ts.Node): boolean {
  const isMember =
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyAssignment(parent);
  return isMember && parent.name === node;
}

function readsEnvironment(node: ts.Node): boolean {
  const access = accessOf(node);
  if (access) return access.name === "env" && ["process", "Bun", "import.meta"].includes(access.object);
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
    const takesEnv = node.name.elements.some(
      (element) => (element.propertyName ?? element.name).getText() === "env",
    );
    return takesEnv && node.initializer?.getText() === "process";
  }
  return (
    ts.isImportDeclaration(node) &&
    ts.isStringLiteral(node.moduleSpecifier) &&
    /^(node:)?process$/.test(node.moduleSpecifier.text)
  );
}

function bunGlobals(source: Source) {
  if ([LISTENER, SQLITE_DRIVER, CONSOLE_BUILD].includes(source.path)) return [];
  return inspect(source, (node) =>
    ts.isIdentifier(node) && node.text === "Bun"
      ? "Bun belongs in the listener and the SQLite driver"
      : undefined,
  );
}

function bunImports(source: Source) {
  if (source.path === SQLITE_DRIVER) return [];
  return importsOf(source)
    .filter((found) => /^bun(:|$)/.test(found.specifier))
    .map((found) => violation(source, found.node, `${found.specifier} belongs in the SQLite driver`));
}
