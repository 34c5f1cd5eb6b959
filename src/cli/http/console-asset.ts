import { consoleModules } from "./console-modules.ts";

const FILES: ReadonlyMap<string, string> = new Map(Object.entries(consoleModules()));

/** The files behind `/console`; `undefined` for any other name. */
export function consoleAsset(name: string): string | undefined {
  return FILES.get(name);
}
