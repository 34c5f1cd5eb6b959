import { onPostgres, type PostriderProcess, startPostrider } from "../../test/postrider-process.ts";
import { startBare } from "../bare.ts";
import { heading, ms, ratio, whole } from "../report.ts";
import { spentUs } from "../spent.ts";
import { type Measured, measure, median, postScript, requireWrk } from "../wrk.ts";
import { between, type Database, openDatabase } from "./database.ts";

export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
}

const PATH = "/v1/sms/messages";
const TEMPLATE = "1107160000000000001";
const single = JSON.stringify({
  to: "+919876543210",
  dlt_template_id: TEMPLATE,
  dlt_entity_id: "1101160000000000001",
  variables: { "1": "123456" },
});
const RECIPIENTS = 1_000;
const batch = JSON.stringify({
  to: Array.from({ length: RECIPIENTS }, (_, index) => `+91${9_000_000_000 + index * 7}`),
  dlt_template_id: TEMPLATE,
});

/** Single SMS over 64 connections, beside a bare `Bun.serve` in turns. */
export async function acceptSingles({ rounds, seconds }: Rounds): Promise<void> {
  requireWrk();
  console.log(
    heading("PostgreSQL: accepting over HTTP, --roles api, 64 connections, against a bare Bun.serve"),
  );
  const { database, service } = await startApi();
  const bare = await startBare();
  for (const idempotent of [false, true]) {
    const script = scriptOf(service, single, idempotent);
    const load = { script, connections: 64, seconds };
    await measure({ ...load, url: service.url, seconds: 2 });
    const pairs: { yardstick: Measured; ours: Round }[] = [];
    for (let round = 0; round < rounds; round++) {
      const yardstick = await measure({ ...load, url: bare.url });
      pairs.push({ yardstick, ours: await measureOurs(database, service, load) });
    }
    const ratios = pairs.map(({ yardstick, ours }) => ours.perSecond / yardstick.perSecond);
    const yardstick = median(pairs.map((pair) => pair.yardstick.perSecond));
    console.log(
      `single SMS${idempotent ? ", a key each" : ""}: ratio ${ratio(median(ratios))} (${ratios.map(ratio).join(", ")}), yardstick ${whole(yardstick)}/s`,
    );
    sayRounds(
      pairs.map(({ ours }) => ours),
      1,
    );
  }
  bare.stop();
  service.kill("SIGKILL");
}

/** 1,000 recipients a request over 4 connections, a key each. */
export async function acceptBatches({ rounds, seconds }: Rounds): Promise<void> {
  requireWrk();
  console.log(heading("PostgreSQL: batches of 1,000 over HTTP, --roles api, 4 connections"));
  const { database, service } = await startApi();
  const load = { script: scriptOf(service, batch, true), connections: 4, seconds };
  await measure({ ...load, url: service.url, seconds: 2 });
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await measureOurs(database, service, load));
  sayRounds(measured, RECIPIENTS);
  service.kill("SIGKILL");
}

async function startApi(): Promise<{ database: Database; service: PostriderProcess }> {
  const database = await openDatabase();
  const service = await startPostrider({ env: onPostgres(database.url), args: ["--roles", "api"] });
  return { database, service };
}

function scriptOf(service: PostriderProcess, body: string, idempotent: boolean): string {
  return postScript({ path: PATH, key: service.sandbox.api_key, body, idempotent });
}

/** With the processor time of a request, in microseconds. */
interface Round extends Measured {
  readonly serviceUs: number;
  readonly serverUs: number;
  readonly wal: number;
}

async function measureOurs(
  database: Database,
  service: PostriderProcess,
  load: { readonly script: string; readonly connections: number; readonly seconds: number },
): Promise<Round> {
  const before = await database.counters();
  const serviceBefore = spentUs(service.pid);
  const measured = await measure({ ...load, url: service.url });
  const requests = measured.perSecond * load.seconds;
  const serviceUs = (spentUs(service.pid) - serviceBefore) / requests;
  return { ...measured, ...between(before, await database.counters(), requests), ...measured, serviceUs };
}

function sayRounds(rounds: readonly Round[], recipients: number): void {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const errors = rounds.reduce((sum, each) => sum + each.errors, 0);
  console.log(
    [
      `  ${whole(of(({ perSecond }) => perSecond) * recipients)} recipients/s`,
      `p50 ${ms(of(({ p50Ms }) => p50Ms))}, p99 ${ms(of(({ p99Ms }) => p99Ms))}`,
      ...(errors > 0 ? [`${errors} ERRORS`] : []),
    ].join(", "),
  );
  console.log(
    [
      `  of each recipient: ${(of(({ serviceUs }) => serviceUs) / recipients).toFixed(1)} µs of processor time of the service`,
      `${(of(({ serverUs }) => serverUs) / recipients).toFixed(1)} µs of PostgreSQL`,
      `${whole(of(({ wal }) => wal) / recipients)} octets of WAL`,
    ].join(", "),
  );
}
