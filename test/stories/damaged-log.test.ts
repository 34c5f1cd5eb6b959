/** A disk that has lost what was on it: the write-ahead log is damaged before commits that had been synced. */
import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { oneProcess } from "../one-process.ts";
import { runPostrider } from "../postrider-process.ts";

const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

const { folder, service, start } = oneProcess();

const post = async () => {
  const apiKey = service().sandbox.api_key;
  const { status, body } = await send(service(), { apiKey, path: PATH, body: SMS });
  expect(status).toBe(202);
  return { apiKey, path: `${PATH}/${body.message_id}` };
};

async function kill(): Promise<void> {
  service().kill("SIGKILL");
  await service().exited;
}

/** Leaves a log of which something in the middle is lost, as after a crash on a bad disk. */
async function damageLog(args: readonly string[] = []): Promise<string> {
  await start({ args });
  await reached(service(), await post(), "delivered");
  await kill();
  const wal = join(folder(), "postrider.db-wal");
  damageLastButOne(wal);
  return wal;
}

/** Damages the last transaction but one. Behind the last one there may be older ones, which the log had before it was begun anew. */
function damageLastButOne(wal: string): void {
  const log = readFileSync(wal);
  const salts = log.subarray(16, 24);
  const frameSize = 24 + log.readUInt32BE(8);
  const ends: number[] = [];
  for (let at = 32; log.subarray(at + 8, at + 16).equals(salts); at += frameSize) {
    if (log.readUInt32BE(at + 4) > 0) ends.push(at);
  }
  const page = ends.at(-2)! + 24;
  writeFileSync(wal, log.fill(0x55, page, page + 512));
}

for (const args of [[], ["--store-thread"], ["--listeners", "2"]]) {
  test(`a start says that commits are lost which were on disk, once, and serves (${args.join(" ") || "one thread"})`, async () => {
    const wal = await damageLog(args);
    await start({ args });
    const { commits, ...said } = JSON.parse(await service().line(/log is damaged/));
    expect(commits).toBeGreaterThan(0);
    expect(said).toMatchObject({ level: "error", file: wal });
    await post();
    await kill();

    await start({ args });
    expect(service().output()).not.toContain("log is damaged");
  });
}

test("a start says that commits are lost also on a copy of the folder, whose lock is another file", async () => {
  await damageLog();
  rmSync(join(folder(), "postrider.lock"));
  await start();
  await service().line(/log is damaged/);
});

for (const [command, ...args] of [["rotate-key"], ["migrate-to", "postgres://127.0.0.1:1/none"]]) {
  test(`${command} says that commits are lost, and clears the log`, async () => {
    const wal = await damageLog();
    const { output } = await runPostrider({ dataFolder: folder(), command: command!, args });
    expect(output).toContain(`the database's log is damaged, `);
    expect(output).toContain(`(${wal}, commits: `);
  });
}

test("a service that was killed under load loses nothing, and says nothing of a damaged log", async () => {
  await start();
  await Promise.all(Array.from({ length: 20 }, post));
  await kill();
  await start();
  expect(service().output()).not.toContain("log is damaged");
});
