/** What a start with several listeners needs, and when it is ready. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { keptPort } from "../fakes/kept-port.ts";
import { makeDataFolder, runPostrider, startCommand, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const { CI } = process.env;

/** A connection each, so that both threads get some. */
const CONNECTIONS = 40;

test("where there is no folder for temporary files, the data folder has the socket, also after kill -9", async () => {
  const { path: dataFolder, remove } = makeDataFolder();
  const start = () =>
    startPostrider({ dataFolder, args: ["--listeners", "2"], env: { TMPDIR: "/nowhere/at/all" } });
  const first = await start();
  expect(statSync(join(dataFolder, "listeners")).mode & 0o777).toBe(0o700);
  first.kill("SIGKILL");
  await first.exited;
  const second = await start();
  // Only the main thread answers for it.
  const answers = Array.from({ length: CONNECTIONS }, () =>
    fetch(`${second.url}/openapi.json`, { keepalive: false }),
  );
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
  second.kill("SIGTERM");
  expect(await second.exited).toBe(0);
  expect(existsSync(join(dataFolder, "listeners"))).toBeFalse();
  remove();
});

test("where no folder can have the socket, the start says why, and what to do", async () => {
  const { path, remove } = makeDataFolder();
  const { code, output } = await runPostrider({
    dataFolder: join(path, "far".repeat(40)),
    args: ["--listeners", "2"],
    env: { TMPDIR: "/nowhere/at/all" },
  });
  expect(code).toBe(1);
  expect(output).toMatch(
    /cannot start: --listeners needs a folder .* \(ENOENT.*; .* is too long for a socket\): make room, .*TMPDIR.*\n$/,
  );
  remove();
});

const testSockets = test.skipIf(process.platform !== "linux" && !CI); // skipped: no /proc/net/tcp here

testSockets("it is ready only when every thread listens", async () => {
  const { path: dataFolder, remove } = makeDataFolder();
  const port = await keptPort();
  const count = 6;
  const env = { PORT: String(port) };
  const start = startCommand({ dataFolder, command: "serve", args: ["--listeners", String(count)], env });
  const statuses: number[] = [];
  const look = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { keepalive: false }).catch(
      () => undefined,
    );
    if (answer?.status === 200) expect(listenersOn(port)).toBe(count);
    statuses.push(answer?.status ?? 0);
    return statuses;
  };
  await until(look, (all) => all.at(-1) === 200, { pauseMs: 0 });
  expect(statuses).toContain(503);
  start.kill("SIGTERM");
  expect(await start.exited).toBe(0);
  remove();
});

/** Sockets that listen on the port: proc(5), where 0A is the state of such. */
function listenersOn(port: number): number {
  const address = `:${port.toString(16).toUpperCase().padStart(4, "0")} `;
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return lines.filter((line) => line.includes(`${address}00000000:0000 0A`)).length;
}
