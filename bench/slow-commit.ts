/**
 * A disk on which every commit takes 10 ms, or as many as said: accepts a second at 64 connections, and what a lookup takes meanwhile.
 *
 *   bun bench/slow-commit.ts [rounds] [seconds] [commit ms]
 */
import { fileURLToPath } from "node:url";
import { makeDataFolder, startPostrider } from "../test/postrider-process.ts";
import { heading, ms, whole } from "./report.ts";
import { getScript, measure, median, postScript, requireWrk } from "./wrk.ts";

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 5);
const COMMIT_MS = Number(process.argv[4] ?? 10);
const PATH = "/v1/sms/messages";
const BODY = JSON.stringify({
  to: "+919876543210",
  dlt_template_id: "1107160000000000001",
  variables: { "1": "123456" },
});

requireWrk();
console.log(heading(`A commit that takes ${COMMIT_MS} ms`));
await run("as the service chooses", []);
await run("writes on the thread of the interface (--no-store-thread)", ["--no-store-thread"]);
await run("writes on a thread of their own (--store-thread)", ["--store-thread"]);

async function run(name: string, args: readonly string[]): Promise<void> {
  const folder = makeDataFolder();
  const main = fileURLToPath(new URL("../test/fakes/slow-disk-server.ts", import.meta.url));
  const service = await startPostrider({
    dataFolder: folder.path,
    main,
    args,
    env: { COMMIT_MS: String(COMMIT_MS) },
  });
  const key = service.sandbox.api_key;
  const lookupPath = await acceptOne(service.url, key);
  const accepts: number[] = [];
  const lookups: number[] = [];
  const load = { url: service.url, seconds: SECONDS };
  for (let round = 0; round < ROUNDS; round++) {
    const post = postScript({ path: PATH, key, body: BODY, idempotent: true });
    const get = getScript({ paths: [lookupPath], key });
    const [accept, lookup] = await Promise.all([
      measure({ ...load, connections: 64, script: post }),
      measure({ ...load, connections: 4, script: get }),
    ]);
    accepts.push(accept.perSecond);
    lookups.push(lookup.p99Ms);
  }
  console.log(
    `${name}: ${whole(median(accepts))} accepts/s at 64 connections; lookup p99 ${ms(median(lookups))} beside them`,
  );
  service.kill("SIGKILL");
  await service.exited;
  folder.remove();
}

async function acceptOne(url: string, key: string): Promise<string> {
  const response = await fetch(url + PATH, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: BODY,
  });
  const { message_id } = (await response.json()) as { message_id: string };
  return `${PATH}/${message_id}`;
}
