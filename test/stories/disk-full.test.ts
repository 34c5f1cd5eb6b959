/** The disk is full while the service runs under load, and has room again later. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { reached } from "../admin.ts";
import { canLimitFiles, limitFiles } from "../fakes/process-limits.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const PATH = "/v1/sms/messages";
const CLIENTS = 8;
const { CI } = process.env;
const testFullDisk = test.skipIf(!canLimitFiles && !CI); // skipped: this system cannot fill another process's disk

const folder = makeDataFolder();
let service: PostriderProcess;
const accepted: string[] = [];
let sequence = 0;

beforeAll(async () => {
  service = await startPostrider({ dataFolder: folder.path });
});

afterAll(() => {
  service.kill("SIGKILL");
  folder.remove();
});

/** One request; an answer other than 202 must say when to come back, and nothing more. */
async function post(): Promise<number> {
  const response = await fetch(service.url + PATH, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.sandbox.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ to: `+91${9_800_000_000 + sequence++}`, dlt_template_id: "1107160000000000001" }),
  });
  const body = (await response.json()) as { message_id: string };
  if (response.status === 202) accepted.push(`${PATH}/${body.message_id}`);
  else {
    expect(body as unknown).toEqual({ code: 503, message: "service unavailable" });
    expect(response.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  }
  return response.status;
}

/** Clients that post without a pause until the answers are `enough`. */
async function postUntil(enough: (statuses: readonly number[]) => boolean): Promise<readonly number[]> {
  const statuses: number[] = [];
  const postOne = async () => {
    if (!enough(statuses)) statuses.push(await post());
    return statuses;
  };
  const client = () => until(postOne, enough, { pauseMs: 0 });
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return statuses;
}

const count = (statuses: readonly number[], status: number) =>
  statuses.filter((each) => each === status).length;

const lookUp = (path: string) =>
  fetch(service.url + path, { headers: { Authorization: `Bearer ${service.sandbox.api_key}` } });

async function fillDisk(limit: number): Promise<void> {
  await postUntil((statuses) => count(statuses, 202) >= 50);
  limitFiles(service.pid, limit);
  await postUntil((statuses) => count(statuses, 503) >= 50);
}

async function makeRoom(): Promise<void> {
  limitFiles(service.pid);
  const after = await postUntil((statuses) => count(statuses, 202) >= 50);
  expect(count(after, 503)).toBe(0);
}

testFullDisk(
  "no write fits: 503 and nothing accepted, lookups answered, and with room again accepted without a restart",
  async () => {
    await fillDisk(0);
    const refused = await postUntil((statuses) => statuses.length >= 100);
    expect(count(refused, 503)).toBe(refused.length);
    for (const path of [accepted[0]!, accepted.at(-1)!]) expect((await lookUp(path)).status).toBe(200);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    // Ready, since a load balancer that turned away would end the lookups too; but it says what clients get.
    const ready = await fetch(`${service.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      {
        status: "ready",
        warnings: [expect.stringMatching(/^\d{3,} of the last minute's requests got a 503/)],
      },
    ]);
    await makeRoom();
  },
);

testFullDisk("a write that fits only in part is not accepted, and spoils nothing", async () => {
  const wal = statSync(join(folder.path, "postrider.db-wal")).size;
  await fillDisk(wal + 30_001);
  await makeRoom();
});

test("what was accepted before, between and after is delivered, and the database holds that and nothing else", async () => {
  const apiKey = service.sandbox.api_key;
  for (const path of accepted) await reached(service, { apiKey, path }, "delivered");
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  const database = new Database(join(folder.path, "postrider.db"), { readonly: true });
  const ids = database.query("SELECT id FROM messages").all() as { id: string }[];
  const check = database.query("PRAGMA integrity_check").get();
  database.close();
  expect(ids.map(({ id }) => `${PATH}/${id}`).toSorted()).toEqual(accepted.toSorted());
  expect(check).toEqual({ integrity_check: "ok" });
});

testFullDisk(
  "the feed of events is read on a full disk, also by a process that has just started",
  async () => {
    const fresh = makeDataFolder();
    const readFeed = async (of: PostriderProcess) => {
      const headers = { Authorization: `Bearer ${of.sandbox.api_key}` };
      return (await fetch(`${of.url}/v1/events`, { headers })).status;
    };
    const first = await startPostrider({ dataFolder: fresh.path });
    expect(await readFeed(first)).toBe(200);
    first.kill("SIGTERM");
    await first.exited;
    const second = await startPostrider({ dataFolder: fresh.path });
    limitFiles(second.pid, 0);
    expect(await readFeed(second)).toBe(200);
    second.kill("SIGKILL");
    await second.exited;
    fresh.remove();
  },
);

test("a first start without room on the disk says so and ends, and the next one with room is the first", async () => {
  const fresh = makeDataFolder();
  const { code, output } = await runPostrider({ dataFolder: fresh.path, before: "ulimit -f 0" });
  expect(code).toBe(1);
  expect(output).toMatch(/^postrider cannot start: .+/m);
  const next = await startPostrider({ dataFolder: fresh.path });
  expect(next.output()).toContain("curl -s");
  next.kill("SIGKILL");
  await next.exited;
  fresh.remove();
});
