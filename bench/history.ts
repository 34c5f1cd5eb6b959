/**
 * Fills a new data folder with seven days of history on SQLite, for whatever is to be measured on it. Beside the database
 * it leaves `history.json`: the accounts with their keys.
 *
 *   bun bench/history.ts <new folder> [messages]
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMasterKey } from "../src/cli/keys/master-key.ts";
import { openSqliteStore } from "../src/store/open-store.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../test/live-sms.ts";
import { startPostrider } from "../test/postrider-process.ts";
import { heading, whole } from "./report.ts";
import { fill } from "./sqlite/fill.ts";
import { makeSamples } from "./sqlite/samples.ts";

const ACCOUNTS = 4;

const [folder = "", messages = "1000000"] = process.argv.slice(2);
if (!folder || existsSync(folder)) throw new Error("usage: bun bench/history.ts <new folder> [messages]");
console.log(heading(`${whole(Number(messages))} messages of seven days in ${folder}`));
mkdirSync(folder, { recursive: true });
const { accounts, connectors } = await setUp();
const samples = await sampleAll();
const startedMs = performance.now();
const path = join(folder, "postrider.db");
const accountIds = accounts.map(({ accountId }) => accountId);
fill({ path, samples, messages: Number(messages), accountIds, connectors, end: Date.now() });
writeFileSync(join(folder, "history.json"), JSON.stringify({ accounts, connectors }, undefined, 2));
const seconds = whole((performance.now() - startedMs) / 1_000);
console.log(`filled in ${seconds} s: ${whole(statSync(path).size / 2 ** 20)} MiB`);

/** Accounts, a template each, and two connectors to nobody. */
async function setUp() {
  const service = await startPostrider({ dataFolder: folder });
  const connect = (port: number) => connectSmsc(service, { host: "127.0.0.1", port });
  const connectors = [await connect(9), await connect(10)] as const;
  const accounts: LiveSms[] = [];
  for (let index = 0; index < ACCOUNTS; index++)
    accounts.push(await openLiveSms(service, { connectors, body: "Your code is {#var#}" }));
  service.kill("SIGTERM");
  await service.exited;
  return { accounts, connectors };
}

/** Of each account, so that the store knows that it has messages. Those of the last one are copied. */
async function sampleAll(): Promise<readonly string[]> {
  const masterKey = readMasterKey(folder, undefined);
  const store = await openSqliteStore({ dataFolder: folder, masterKey, randomBytes, now: Date.now });
  let samples: readonly string[] = [];
  for (const { accountId } of accounts) samples = await makeSamples({ store, accountId });
  await store.close();
  return samples;
}
