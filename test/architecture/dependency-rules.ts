import { readFileSync } from "node:fs";
import { isBuild, type Rule, type Source } from "./source.ts";
import { type Import, importsOf, violation } from "./syntax.ts";

/** What each part of `src` may import from the others. The composition root, `cli`, may import everything. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  core: ["core/"],
  store: ["core/", "store/"],
  channels: ["core/", "channels/", "store/store.ts"],
  delivery: ["core/", "delivery/", "store/store.ts", "channels/channel.ts"],
  webhooks: ["core/", "webhooks/", "store/store.ts"],
  api: ["core/", "api/", "store/store.ts", "channels/channel.ts"],
  console: ["console/"],
  cli: [""],
};

/** Parts that meet only in the store. */
const APART = ["api", "delivery", "webhooks"];

/** Packages that only one part of `src` may use. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  "bun:sqlite": ["src/store/"],
  "node:sqlite": ["src/store/"],
  pg: ["src/store/"],
  kysely: ["src/store/"],
  nodemailer: ["src/channels/"],
  "smtp-server": ["src/channels/"],
  "postal-mime": ["src/channels/"],
  smpp: ["src/channels/"],
  "node:net": ["src/channels/", "src/webhooks/", "src/cli/"],
  "node:tls": ["src/channels/", "src/webhooks/", "src/cli/"],
  commander: ["src/cli/"],
};

/** Pure functions in a module that also has sockets. */
const PURE_NAMES = ["isIP", "isIPv4", "isIPv6", "BlockList"];

const ENGINES = ["src/store/sqlite/", "src/store/postgres/"];

const SMPP = "src/channels/sms/smpp/";

/** What each folder of the SMPP channel may import from the other folders. */
const SMPP_LAYERS: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  rate: [],
  session: ["wire"],
  submit: ["wire", "session", "rate"],
  inbox: ["wire", "submit"],
};

export const coreImportsOnlyCore: Rule = onImports(
  "core imports only core",
  (source) => moduleOf(source.path) === "core",
  (target) =>
    target.startsWith("src/core/") || packageOf(target) === "typebox" ? undefined : "core imports only core",
);

export const modulesKeepToTheirInterfaces: Rule = onImports(
  "storage is seen through store/store.ts, providers through channels/channel.ts, and only cli sees everything",
  (source) => moduleOf(source.path) !== "core",
  (target, source) => {
    const module = moduleOf(source.path);
    const allowed = MODULES[module];
    if (!allowed)
      return `src/${module} is not a known module: put the file in one, or add the module to MODULES`;
    if (!target.startsWith("src/") || bothApart(module, target)) return undefined;
    const isAllowed = allowed.some((prefix) => target.startsWith(`src/${prefix}`));
    return isAllowed ? undefined : `${module} may import ${allowed.join(", ")}, not ${target}`;
  },
);

export const modulesThatMeetInTheStore: Rule = onImports(
  "api, delivery and webhooks never import one another",
  () => true,
  (target, source) =>
    bothApart(moduleOf(source.path), target)
      ? `${moduleOf(source.path)} and ${moduleOf(target)} meet in the store, by a job; no import of ${target}`
      : undefined,
);

export const packagesStayAtHome: Rule = onImports(
  "SQL drivers stay in store, provider protocols in channels",
  () => true,
  (target, source, imported) => {
    const home = PACKAGE_HOMES[packageOf(target)];
    if (!home || home.some((prefix) => source.path.startsWith(prefix))) return undefined;
    const isPure = imported.names.length > 0 && imported.names.every((name) => PURE_NAMES.includes(name));
    return isPure ? undefined : `${target} is for ${home.join(", ")}`;
  },
);

export const enginesStandAlone: Rule = onImports(
  "the two stores share tests, never SQL",
  (source) => ENGINES.some((engine) => source.path.startsWith(engine)),
  (target, source) =>
    ENGINES.some((engine) => target.startsWith(engine) && !source.path.startsWith(engine))
      ? `one engine imports the other: ${target}`
      : undefined,
);

export const smppIsLayered: Rule = onImports(
  "the folders of the SMPP channel are layers: the wire and the rate know no other",
  (source) => folderOfSmpp(source.path) in SMPP_LAYERS,
  (target, source) => {
    const [from, to] = [folderOfSmpp(source.path), folderOfSmpp(target)];
    const isAllowed = from === to || !(to in SMPP_LAYERS) || SMPP_LAYERS[from]?.includes(to);
    return isAllowed ? undefined : `smpp/${from} may not import smpp/${to}: ${target}`;
  },
);

export const consoleStandsAlone: Rule = onImports(
  "the console is browser code: it imports only itself, and only those who serve it know it",
  () => true,
  (target, source) => {
    const isInside = target.startsWith("src/console/");
    if (moduleOf(source.path) === "console")
      return isInside ? undefined : `a browser has only src/console, not ${target}`;
    const mayKnow = source.path.startsWith("src/cli/http/");
    return isInside && !mayKnow ? `only src/cli/http serves the console; no import of ${target}` : undefined;
  },
);

export const buildsImportNoTests: Rule = onImports(
  "nothing in a build imports a test, a contract or a fake",
  () => true,
  (target) => {
    if (/\.(test|contract)\.tsx?$/.test(target) || target === "bun:test") return `a build imports ${target}`;
    const isOurs = /^(src|test|bench|scripts|examples)\//.test(target);
    return isOurs && !target.startsWith("src/") ? `a build imports ${target}` : undefined;
  },
);

export const buildsImportWhatTheyDeclare: Rule = onImports(
  "a build imports Node's modules and its declared dependencies, by name",
  () => true,
  (target, source) => {
    const isPath = /^(\.\.?\/|src\/|test\/|bench\/|scripts\/|examples\/)/.test(target);
    if (isPath || target.startsWith("node:") || target === "package.json") return undefined;
    if (target.startsWith("bun:")) return undefined; // bunStaysAtHome says where.
    if (moduleOf(source.path) === "console") return undefined; // consoleStandsAlone says what it may import.
    return dependencies().includes(packageOf(target)) ? undefined : `${target} is not in "dependencies"`;
  },
);

function onImports(
  name: string,
  applies: (source: Source) => boolean,
  judge: (target: string, source: Source, imported: Import) => string | undefined,
): Rule {
  return {
    name,
    check(source) {
      if (!isBuild(source.path) || !applies(source)) return [];
      return importsOf(source).flatMap((imported) => {
        const message =
          imported.target === undefined
            ? "an import of a computed name hides what it reaches"
            : judge(imported.target, source, imported);
        return message === undefined ? [] : [violation(source, imported.node, message)];
      });
    },
  };
}

function moduleOf(path: string): string {
  return path.split("/")[1] ?? "";
}

/** "" for a file directly in the channel's folder, and for one elsewhere. */
function folderOfSmpp(path: string): string {
  const [folder = "", file] = path.startsWith(SMPP) ? path.slice(SMPP.length).split("/") : [];
  return file === undefined ? "" : folder;
}

function bothApart(module: string, target: string): boolean {
  const other = moduleOf(target);
  return target.startsWith("src/") && module !== other && APART.includes(module) && APART.includes(other);
}

/** `typebox/compile` → `typebox`, `@a/b/c` → `@a/b`; `node:` and `bun:` names as they are. */
function packageOf(target: string): string {
  const parts = target.split("/");
  return target.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? target);
}

function dependencies(): readonly string[] {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"));
  return Object.keys(manifest.dependencies);
}
