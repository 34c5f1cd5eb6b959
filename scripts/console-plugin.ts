import { consoleModules } from "../src/cli/http/console-modules.ts";

/** Puts the files of the web console into a program that is built, in place of what would read them when it starts. */
export const CONSOLE_PLUGIN: Bun.BunPlugin = {
  name: "console",
  setup: (build) =>
    void build.onLoad({ filter: /[/\\]cli[/\\]http[/\\]console-modules\.ts$/ }, () => ({
      loader: "js",
      contents: `export const consoleModules = () => (${JSON.stringify(consoleModules())});`,
    })),
};
