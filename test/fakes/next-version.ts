/** The program as it would be after one more migration, which adds columns: `main.ts` with a longer list. */
import { join } from "node:path";

const SOURCE = join(import.meta.dir, "../../src");

const ADDED = `
ALTER TABLE messages ADD COLUMN region text NOT NULL DEFAULT 'everywhere';
ALTER TABLE jobs ADD COLUMN region text NOT NULL DEFAULT 'everywhere';
ALTER TABLE events ADD COLUMN region text NOT NULL DEFAULT 'everywhere';
ALTER TABLE accounts ADD COLUMN region text NOT NULL DEFAULT 'everywhere';`;

Bun.plugin({
  name: "one more migration",
  setup(build) {
    build.onLoad({ filter: /store\/postgres\/migrations\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const last = text.lastIndexOf("];");
      const more = `{ number: 900, name: "0900_region", sql: ${JSON.stringify(ADDED)}, worksWith: 1 },`;
      return { contents: text.slice(0, last) + more + text.slice(last), loader: "ts" };
    });
  },
});

await import(join(SOURCE, "cli/main.ts"));
