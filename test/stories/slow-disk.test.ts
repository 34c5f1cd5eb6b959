/** A disk that takes its time for every commit, as one behind a network does. */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { send } from "../admin.ts";
import { oneProcess } from "../one-process.ts";

const { service, start } = oneProcess();

const MAIN = fileURLToPath(new URL("../fakes/slow-disk-server.ts", import.meta.url));
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

/** Accepts an SMS; resolves with how often `/healthz` was answered meanwhile. */
async function answersMeanwhile(): Promise<number> {
  const { api_key: apiKey } = service().sandbox;
  let isAccepted = false;
  const accepting = send(service(), { apiKey, path: "/v1/sms/messages", body: SMS }).then(({ status }) => {
    expect(status).toBe(202);
    isAccepted = true;
  });
  let answers = 0;
  while (!isAccepted) {
    expect((await fetch(`${service().url}/healthz`)).status).toBe(200);
    answers++;
  }
  await accepting;
  return answers;
}

test("on a slow disk a thread of its own writes, so that nobody else waits for a commit", async () => {
  await start({ main: MAIN, env: { COMMIT_MS: "300" } });
  await service().line(/this disk takes 8 ms or longer per commit/);
  expect(await answersMeanwhile()).toBeGreaterThan(5);
});

test("--no-store-thread writes on the thread that takes requests, on a slow disk too", async () => {
  await start({ main: MAIN, env: { COMMIT_MS: "300" }, args: ["--no-store-thread"] });
  expect(service().output()).not.toContain("this disk");
  expect(await answersMeanwhile()).toBeLessThan(6);
});
