import { describe, expect, test } from "bun:test";
import { RULES } from "./rules.ts";

/** Rule name, path and text of a file that breaks it, and the line that does. */
const BROKEN: readonly (readonly [rule: RegExp, path: string, text: string, line: number])[] = [
  [/^core imports/, "src/core/a.ts", `import { x } from "../store/store.ts";`, 1],
  [/^core imports/, "src/core/a.ts", `\nexport { readFile } from "node:fs";`, 2],
  [/^core imports/, "src/core/a.ts", `const x = await import("pg");`, 1],
  [/^core imports/, "src/core/a.ts", `type X = import("../api/app.ts").X;`, 1],
  [/^storage is seen/, "src/api/a.ts", `import { openSqliteStore } from "../store/open-store.ts";`, 1],
  [/^storage is seen/, "src/delivery/a.ts", `import "../channels/sms/smpp/smpp-channel.ts";`, 1],
  [/^storage is seen/, "src/webhooks/a.ts", `import "../store/sqlite/queue/claim.ts";`, 1],
  [/^storage is seen/, "src/store/a.ts", `import "../cli/config.ts";`, 1],
  [/^storage is seen/, "src/attic/a.ts", `import "node:fs";`, 1],
  [/^api, delivery/, "src/api/a.ts", `import { wake } from "../delivery/worker.ts";`, 1],
  [/^api, delivery/, "src/webhooks/a.ts", `import type { App } from "../api/app.ts";`, 1],
  [/^SQL drivers/, "src/api/a.ts", `import { Database } from "node:sqlite";`, 1],
  [/^SQL drivers/, "src/delivery/a.ts", `import { createTransport } from "nodemailer";`, 1],
  [/^SQL drivers/, "src/api/a.ts", `import { isIP, connect } from "node:net";`, 1],
  [/^SQL stays/, "src/api/a.ts", `\n\nconst q = "SELECT id FROM messages";`, 3],
  [/^SQL stays/, "src/api/a.ts", "const q = `delete from jobs where id = 1`;", 1],
  [/^SQL stays/, "src/api/schema.sql", "CREATE TABLE t (id);", 1],
  [/^the two stores/, "src/store/postgres/a.ts", `import "../sqlite/rows.ts";`, 1],
  [/^the folders of the SMPP/, "src/channels/sms/smpp/rate/a.ts", `import "../wire/status-words.ts";`, 1],
  [/^the folders of the SMPP/, "src/channels/sms/smpp/session/a.ts", `import "../submit/submit-line.ts";`, 1],
  [/^the console is/, "src/console/a.ts", `import { CHANNELS } from "../core/messages/message.ts";`, 1],
  [/^the console is/, "src/console/a.ts", `import { join } from "node:path";`, 1],
  [/^the console is/, "src/cli/a.ts", `import "../console/times.ts";`, 1],
  [/^nothing in a build/, "src/core/a.ts", `import "./message.test.ts";`, 1],
  [/^nothing in a build/, "src/cli/a.ts", `import "../../test/fakes/held-clock.ts";`, 1],
  [/^nothing in a build/, "src/cli/a.ts", `import { test } from "bun:test";`, 1],
  [/^a build imports/, "src/channels/a.ts", `import fc from "fast-check";`, 1],
  [/^a build imports/, "src/channels/a.ts", `const x = await import(name);`, 1],
  [/^outside cli/, "src/delivery/a.ts", `const x = Date.now();`, 1],
  [/^outside cli/, "src/delivery/a.ts", `const x = new Date();`, 1],
  [/^outside cli/, "src/delivery/a.ts", `const x = Math["random"]();`, 1],
  [/^outside cli/, "src/delivery/a.ts", `globalThis.setTimeout(run, 5);`, 1],
  [/^outside cli/, "src/delivery/a.ts", `const wait = setInterval;`, 1],
  [/^outside cli/, "src/store/a.ts", `import { randomBytes } from "node:crypto";`, 1],
  [/^outside cli/, "src/store/a.ts", `import { setTimeout } from "node:timers/promises";`, 1],
  [/^outside cli/, "src/store/a.ts", `const id = crypto.randomUUID();`, 1],
  [/^only cli/, "src/api/a.ts", `const x = process.env["PORT"];`, 1],
  [/^only cli/, "src/api/a.ts", `const { env } = process;`, 1],
  [/^only cli/, "src/api/a.ts", `import { env } from "node:process";`, 1],
  [/^Bun's own/, "src/cli/main.ts", `const x = Bun.file("x");`, 1],
  [/^Bun's own/, "src/store/sqlite/queue/claim.ts", `import { Database } from "bun:sqlite";`, 1],
  [/^files are/, "src/core/phoneNumber.ts", "", 1],
  [/^no file or folder/, "src/core/string-utils.ts", "", 1],
  [/^no file or folder/, "src/helpers/text.ts", "", 1],
  [/^no file or folder/, "src/core/types.ts", "", 1],
  [/^no function or type/, "src/core/a.ts", `export interface SessionManager {}`, 1],
  [/^no function or type/, "src/core/a.ts", `interface IClock {}`, 1],
  [/^no file only/, "src/core/a.ts", `export * from "./b.ts";\nexport { c } from "./c.ts";`, 1],
  [/^a file has/, "test/a.ts", "x;\n".repeat(301), 301],
  [/^a function has/, "src/core/a.ts", `\nfunction f() {\n${"x();\n".repeat(49)}}`, 2],
  [/^at most 3/, "src/core/a.ts", `const f = (a: 1, b: 2, c: 3, d: 4) => a;`, 1],
  [/^blocks nest/, "src/core/a.ts", `if (a)\n for (;;)\n  try {\n   while (b) c();\n  } finally {}`, 4],
  [/^no object spreads/, "test/a.ts", `const x = {\n  ...{ a: 1, b: 2 },\n  c: 3,\n};`, 2],
  [/^no object spreads/, "src/core/a.ts", `const x = { ...({ a: 1 } as const), c: 3 };`, 1],
  [/^no test is/, "src/core/a.test.ts", `test.only("x", () => {});`, 1],
  [/^no test is/, "test/stories/a.test.ts", `\ndescribe.skip.each([1])("x", () => {});`, 2],
  [/^no test is/, "test/a.test.ts", `test.skipIf(isSlow)("x", () => {}); // skipped: slow`, 1],
  [/^no test is/, "test/a.test.ts", `test.todo("x");`, 1],
  [/^every story/, "test/stories/a.test.ts", `test("x", () => {});`, 1],
  [/^every story/, "test/stories/backup.test.ts", `onBothStores(() => {});`, 1],
  [/^toMatchObject/, "src/core/a.test.ts", `\nexpect(parts).toMatchObject([refused, refused]);`, 2],
  [
    /^toMatchObject/,
    "src/store/a.contract.ts",
    `expect(of).toMatchObject({ parts: Array(5).fill(sent) });`,
    1,
  ],
  [/^no page of/, "test/acceptance/a.test.ts", `\nawait page.waitForFunction("isDone");`, 2],
];

const FINE: readonly (readonly [path: string, text: string])[] = [
  ["src/core/a.ts", `import { Type } from "typebox";\nimport type { Part } from "./message.ts";`],
  ["src/core/a.ts", `export const at = (ms: number) => new Date(ms).toISOString();`],
  ["src/core/a.test.ts", `import { test } from "bun:test";\nimport "../../test/fakes/held-clock.ts";`],
  ["src/api/a.ts", `import type { Store } from "../store/store.ts";\nimport { isIP } from "node:net";`],
  [
    "src/api/a.ts",
    `const help = "Select a template from the list"; const word = "Date.now() and Bun.serve";`,
  ],
  ["src/delivery/a.ts", `import type { Channel } from "../channels/channel.ts";`],
  ["src/channels/sms/a.ts", `import { connect } from "node:net";\nsocket.setTimeout(5000);`],
  ["src/store/vault.ts", `export const seal = (deps: Deps) => deps.randomBytes(12);`],
  ["src/channels/sms/a.ts", `import { setImmediate } from "node:timers/promises";`],
  ["src/store/sqlite/database/driver.ts", `import { Database } from "bun:sqlite";`],
  ["src/store/sqlite/queue/claim.ts", "const q = `SELECT id FROM jobs WHERE queue = ?`;"],
  ["src/cli/http/listen.ts", `export const listen = () => Bun.serve({ port: Number(process.env["PORT"]) });`],
  ["src/cli/compose.ts", `import "../api/app.ts";\nimport "../store/open-store.ts";\nsetTimeout(stop, 5);`],
  ["src/core/base64.ts", `export function openDatabase() {}`],
  ["src/core/a.ts", `if (a) x(); else if (b) x(); else if (c) x(); else if (d) x(); else if (e) x();`],
  ["src/core/a.ts", `const x = { ...y, ...(z && { z }), ...present({ a }) };`],
  ["src/core/a.ts", `function f() {\n${"x();\n".repeat(48)}}`],
  ["test/stories/a.test.ts", `onBothStores((store) => {});`],
  ["test/stories/backup.test.ts", `test("x", () => {});`],
  ["test/a.test.ts", `expect(parts).toMatchObject([sent(), undefined, sent(), undefined]);`],
  ["test/a.test.ts", `expect(parts).toEqual(Array(5).fill(sent));`],
  ["test/a.test.ts", `test.skipIf(!hasX && !CI)("x", () => {}); // skipped: there is no X on this machine`],
];

describe("the checker", () => {
  for (const [name, path, text, line] of BROKEN) {
    test(`catches in ${path} ${titleOf(text)}`, () => {
      const rule = RULES.find((candidate) => name.test(candidate.name));
      const found = rule?.check({ path, text }) ?? [];
      expect(found.map((violation) => [violation.path, violation.line])).toEqual([[path, line]]);
    });
  }

  for (const [path, text] of FINE) {
    test(`lets pass in ${path} ${titleOf(text)}`, () => {
      expect(RULES.flatMap((rule) => rule.check({ path, text }))).toEqual([]);
    });
  }

  test("has a proof for every rule", () => {
    const unproven = RULES.filter((rule) => !BROKEN.some(([name]) => name.test(rule.name)));
    expect(unproven.map((rule) => rule.name)).toEqual([]);
  });
});

function titleOf(text: string): string {
  return text === "" ? "its name" : text.trim().replace(/\s+/g, " ").slice(0, 70);
}
