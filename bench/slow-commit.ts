/**
 * A disk on which every commit takes 10 ms: accepts a second at 64 connections, and what a lookup takes meanwhile.
 *
 *   bun bench/slow-commit.ts [rounds] [seconds]
 */
import { join } from "node:path";
import { makeDataFolder, startPostrider } from "../test/postrider-process.ts";
import { heading, ms, whole } from "./report.ts";
import { getScript, measure, median, postScript, requireWrk } from "./wrk.ts";

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 5);
const PATH = "/v1/sms/messages";

requireWrk();
console.log(heading("A commit that takes 10 ms"));
const folder = makeDataFolder();
const service = await startPostrider({
  dataFolder: folder.path,
  main: join(import.meta.dir, "slow-commit-server.ts"),
});
const key = service.sandbox.api_key;
const body = JSON.stringify({
  to: "+919876543210",
  dlt_template_id: "1107160000000000001",
  variables: { "1": "123456" },
});
const accepted = await fetch(service.url + PATH, {
  method: "POST",
  headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
  body,
});
const { message_id } = (await accepted.json()) as { message_id: string };

const accepts: number[] = [];
const lookups: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const [accept, lookup] = await Promise.all([
    measure({
      url: service.url,
      connections: 64,
      seconds: SECONDS,
      script: postScript({ path: PATH, key, body, idempotent: true }),
    }),
    measure({
      url: service.url,
      connections: 4,
      seconds: SECONDS,
      script: getScript({ paths: [`${PATH}/${message_id}`], key }),
    }),
  ]);
  accepts.push(accept.perSecond);
  lookups.push(lookup.p99Ms);
}
console.log(
  `accepts ${whole(median(accepts))}/s at 64 connections; lookup p99 ${ms(median(lookups))} at 4 connections beside them`,
);
service.kill("SIGKILL");
await service.exited;
folder.remove();
