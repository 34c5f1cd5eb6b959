/**
 * `build-quick-start.ts <folder>`: the programs as tests start them, hundreds of times: bundled, and with the bytecode of
 * those that start most. A start takes a third of the work that it takes from the sources.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CONSOLE_PLUGIN } from "./console-plugin.ts";
import { PROGRAMS } from "./programs.ts";

const folder = process.argv[2];
if (folder === undefined) throw new Error("usage: build-quick-start.ts <folder>");

/** For the others, bytecode takes longer to make than it saves. */
const OFTEN = /[/\\](main|store-thread)\.ts$/;
const often = PROGRAMS.filter((program) => OFTEN.test(program));
const seldom = PROGRAMS.filter((program) => !OFTEN.test(program));

// The names that the sources have, since threads are started by them.
const shared = {
  target: "bun",
  naming: { entry: "[name].ts" },
  outdir: folder,
  publicPath: `${folder}/`,
} as const;

await Bun.build({ ...shared, entrypoints: seldom, splitting: true, plugins: [CONSOLE_PLUGIN] });
await Bun.build({
  ...shared,
  entrypoints: often,
  format: "cjs",
  bytecode: true,
  // Bun compares the text with the bytecode's at each start.
  minify: { whitespace: true },
  // As in modules.
  banner: '"use strict";',
  define: { "import.meta.url": JSON.stringify(pathToFileURL(join(folder, "main.ts")).href) },
  plugins: [
    CONSOLE_PLUGIN,
    { name: "without top-level await", setup: (build) => void build.onLoad({ filter: OFTEN }, load) },
  ],
});

/** Bun makes bytecode of CommonJS alone, which has no `await` at the top level. There the programs wait for their last statement. */
function load({ path }: { readonly path: string }) {
  const contents = readFileSync(path, "utf8");
  return {
    loader: "ts",
    contents: often.includes(path) ? contents.replace(/^await /m, "void ") : contents,
  } as const;
}
