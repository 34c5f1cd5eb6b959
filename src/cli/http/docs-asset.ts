import { readFile } from "node:fs/promises";
import css from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import bundle from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import preset from "swagger-ui-dist/swagger-ui-standalone-preset.js" with { type: "file" };

/** Imported as files, so that a compiled binary carries them. */
const ASSETS: ReadonlyMap<string, string> = new Map([
  ["swagger-ui.css", css],
  ["swagger-ui-bundle.js", bundle],
  ["swagger-ui-standalone-preset.js", preset],
]);

/** The files behind `/docs`; `undefined` for any other name. */
export async function docsAsset(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const path = ASSETS.get(name);
  return path === undefined ? undefined : new Uint8Array(await readFile(path));
}
