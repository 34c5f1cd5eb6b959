/** Sends many requests, one after the other, and collects what was wrong with the answers. */

import { until } from "../until.ts";
import { lookAfter } from "./aftermath.ts";
import { type Chance, createChance } from "./chance.ts";
import { type Operation, readDescribed } from "./described.ts";
import type { FuzzRequest } from "./draft.ts";
import { type FuzzAnswer, problemsOf } from "./judge.ts";
import { createRequest } from "./requests.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "./under-test.ts";
import { createWorld, type World } from "./world.ts";

export interface Report {
  /** Each with the request that shows it. */
  readonly findings: readonly string[];
  /** How often each operation was answered with each status. */
  readonly seen: ReadonlyMap<string, number>;
}

/** No more are collected: they would repeat one another. */
const MOST_FINDINGS = 20;

export async function runFuzz({ seed, cases }: { seed: number; cases: number }): Promise<Report> {
  const tested = await startServiceUnderTest();
  try {
    const world = await createWorld(tested);
    const operations = await readDescribed(world.url);
    const chance = createChance(seed);
    const weighted = operations.flatMap((each) => Array<Operation>(weightOf(each)).fill(each));
    const findings: string[] = [];
    const known = new Set<string>();
    const seen = new Map<string, number>();
    for (let index = 0; index < cases && findings.length < MOST_FINDINGS; index++) {
      const { request, answer, problems } = await runCase({
        tested,
        world,
        operations: weighted,
        chance: chance.fork(),
      });
      const key = `${request.operation.id} ${request.method} ${answer.status}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      if (isNew(request, problems, known))
        findings.push(`case ${index}: ${shown(request, answer)}: ${problems.join("; ")}`);
      forgetLog(tested);
    }
    return { findings, seen };
  } finally {
    await tested.close();
  }
}

/** True for the first finding of its kind: one is enough. */
function isNew({ operation }: FuzzRequest, problems: readonly string[], known: Set<string>): boolean {
  const [problem] = problems;
  if (problem === undefined) return false;
  const kind = `${operation.id} ${problem.slice(0, 30)}`;
  if (known.has(kind)) return false;
  known.add(kind);
  return true;
}

/** Operations that make something are more frequent: others need what they make. */
function weightOf({ id, method, path }: Operation): number {
  if (/^send/.test(id)) return 5;
  return method === "POST" && !path.includes("{") ? 3 : 1;
}

interface Case {
  readonly tested: ServiceUnderTest;
  readonly world: World;
  readonly operations: readonly Operation[];
  readonly chance: Chance;
}

async function runCase({ tested, world, operations, chance }: Case) {
  const request = createRequest(chance.pick(operations), world, chance);
  const ask = (path: string, init: RequestInit) => tested.answered(send(world.url + path, init));
  const sent = () => tested.answered(send(request.url, toInit(request)));
  const before = await tested.stored();
  const waits = tested.waits();
  const answer = await sent();
  const stayed = !mayStore(request, answer) && waits === tested.waits();
  const hasStored = stayed && (await tested.stored()) !== before && (await storesAgain(tested, sent));
  const problems = [
    ...problemsOf(request, answer),
    ...(hasStored ? ["something was stored all the same"] : []),
    ...faultsIn(tested),
  ];
  return { request, answer, problems: [...problems, ...(await lookAfter({ world, ask }, request, answer))] };
}

function mayStore({ method, operation }: FuzzRequest, { status, text }: FuzzAnswer): boolean {
  if (status >= 400) return false;
  // A GET that changes something: some providers can send reports in no other way.
  if (operation.id === "takeReceiptsByQuery") return true;
  return !["GET", "HEAD", "OPTIONS"].includes(method) && !text.includes('"dry_run":true');
}

/**
 * Whether the request stores something when it is repeated alone: work of earlier requests may have stored it before. Where an
 * answer is waited for, held time passes, and what is due then stores.
 */
async function storesAgain(tested: ServiceUnderTest, sent: () => Promise<FuzzAnswer>): Promise<boolean> {
  for (let times = 0; times < 3; times++) {
    await rest(tested);
    const [before, waits] = [await tested.contents(), tested.waits()];
    await sent();
    await rest(tested);
    if (waits !== tested.waits() || (await tested.contents()) === before) return false;
  }
  return true;
}

const REST_MS = 30;

async function rest({ stored }: ServiceUnderTest): Promise<void> {
  let last = await stored();
  const isAtRest = async () => {
    await Bun.sleep(REST_MS);
    const before = last;
    last = await stored();
    return last === before;
  };
  await until(isAtRest, Boolean, { pauseMs: 0 });
}

async function send(url: string, init: RequestInit): Promise<FuzzAnswer> {
  const response = await fetch(url, { redirect: "manual", ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function toInit({ method, headers, text }: FuzzRequest): RequestInit {
  const isBodied = text !== undefined && method !== "GET" && method !== "HEAD";
  return { method, headers, ...(isBodied && { body: text }) };
}

/** Errors and secrets in the service's log; there must be none. */
function faultsIn({ service }: ServiceUnderTest): readonly string[] {
  const bad = service.logged.filter(({ level }) => Number(level) >= 50);
  return bad.map((line) => `it logged ${JSON.stringify(line)}`);
}

function forgetLog({ service }: ServiceUnderTest): void {
  (service.logged as unknown[]).length = 0;
}

/** The request and its answer, in enough detail to repeat it by hand. */
function shown({ operation, method, url, headers, text }: FuzzRequest, answer: FuzzAnswer): string {
  const { Authorization: _, ...others } = headers;
  const asked = `${method} ${cut(url.replace(/^\w+:..[^/]+/, ""))} ${cut(JSON.stringify(others))} ${cut(text ?? "")}`;
  return `${operation.id}: ${asked} -> ${answer.status} ${cut(answer.text)}`;
}

function cut(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 400)}… (${text.length})`;
}
