/**
 * What each half of accepting costs by itself, beside a bare `Bun.serve` in the same run: a single row made durable
 * without any check (the least that a durable answer can cost), our store without our door, our door before a store
 * that says yes at once, our door before that single row, and both halves.
 *
 *   bun bench/accept-steps.ts [rounds] [seconds]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heading, ratio, whole } from "./report.ts";
import { spentUs } from "./spent.ts";
import { measure, median, postScript, requireWrk } from "./wrk.ts";

const ROUNDS = Number(process.argv[2] ?? 7);
const SECONDS = Number(process.argv[3] ?? 3);

const STEPS = {
  bare: "bare Bun.serve: parses the body, answers",
  row: "… and one row in one table, durable, no check",
  store: "… and our store's accept, no check",
  door: "our door (all checks), before a store that says yes at once",
  log: "our door, and the request as one row of one table",
  whole: "our door and our store",
};

const body = JSON.stringify({
  to: "+919876543210",
  dlt_template_id: "1107160000000000001",
  dlt_entity_id: "1101160000000000001",
  variables: { "1": "123456" },
});

requireWrk();
console.log(heading("Accepting, step by step, 64 connections"));
const folder = mkdtempSync(join(tmpdir(), "postrider-steps-"));
const servers = await Promise.all(Object.keys(STEPS).map(start));
const rounds: { readonly perSecond: number; readonly us: number }[][] = [];
// The first round only warms up.
for (let round = 0; round <= ROUNDS; round++) {
  const taken = [];
  for (const server of servers) taken.push(await take(server));
  if (round > 0) rounds.push(taken);
}
for (const [index, words] of Object.values(STEPS).entries()) {
  const rate = median(rounds.map((round) => round[index]?.perSecond ?? 0));
  const ofBare = median(rounds.map((round) => (round[index]?.perSecond ?? 0) / (round[0]?.perSecond ?? 1)));
  const us = median(rounds.map((round) => round[index]?.us ?? 0));
  console.log(
    `${words}: ratio ${ratio(ofBare)}, ${whole(rate)}/s, ${us.toFixed(1)} us of processor time each`,
  );
}
for (const { child } of servers) child.kill();
rmSync(folder, { recursive: true });

type Server = Awaited<ReturnType<typeof start>>;

async function start(step: string) {
  const own = mkdtempSync(join(folder, `${step}-`));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "accept-steps-server.ts"), step, own], {
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  const [url = "", key = ""] = new TextDecoder().decode(value).trim().split(" ");
  return { url, key, child };
}

async function take({ url, key, child }: Server) {
  const script = postScript({ path: "/v1/sms/messages", key, body, idempotent: false });
  const before = spentUs(child.pid);
  const { perSecond, errors } = await measure({ url, connections: 64, seconds: SECONDS, script });
  if (errors > 0) throw new Error(`${errors} requests failed`);
  return { perSecond, us: (spentUs(child.pid) - before) / (perSecond * SECONDS) };
}
