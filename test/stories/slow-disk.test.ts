/** A disk that takes its time for every commit, as one behind a network does. */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { send } from "../admin.ts";
import { oneProcess } from "../one-process.ts";

const { service, start } = oneProcess();

const MAIN = fileURLToPath(new URL("../fakes/slow-disk-server.ts", import.meta.url));
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

const COMMIT_MS = 500;
/** Halfway between the wait for a commit and none. */
const LONG_MS = COMMIT_MS / 2;
/** A busy machine may make any wait a long one, but hardly every one, and a commit makes no short wait. */
const ACCEPTS = 30;

const startOnSlowDisk = (args: readonly string[] = []) =>
  start({ main: MAIN, env: { COMMIT_MS: String(COMMIT_MS) }, args });

/** Accepts SMS until the longest wait beside one of them is as told; resolves with whether one was. */
async function isEver(isAsTold: (longestMs: number) => boolean): Promise<boolean> {
  for (let accept = 0; accept < ACCEPTS; accept++) {
    if (isAsTold(await longestWaitMs())) return true;
  }
  return false;
}

/** Accepts an SMS, and asks for `/healthz` until that is done; resolves with the longest time that one of these took. */
async function longestWaitMs(): Promise<number> {
  const { api_key: apiKey } = service().sandbox;
  let isAccepted = false;
  const accepting = send(service(), { apiKey, path: "/v1/sms/messages", body: SMS }).then(({ status }) => {
    expect(status).toBe(202);
    isAccepted = true;
  });
  let longestMs = 0;
  while (!isAccepted) {
    const startMs = performance.now();
    expect((await fetch(`${service().url}/healthz`)).status).toBe(200);
    longestMs = Math.max(longestMs, performance.now() - startMs);
  }
  await accepting;
  return longestMs;
}

test("on a slow disk a thread of its own writes, so that nobody else waits for a commit", async () => {
  await startOnSlowDisk();
  await service().line(/this disk takes 8 ms or longer per commit/);
  expect(await isEver((waitMs) => waitMs < LONG_MS)).toBe(true);
});

test("--no-store-thread writes on the thread that takes requests, on a slow disk too", async () => {
  await startOnSlowDisk(["--no-store-thread"]);
  expect(service().output()).not.toContain("this disk");
  expect(await isEver((waitMs) => waitMs > LONG_MS)).toBe(true);
});
