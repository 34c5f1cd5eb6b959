/** A disk that has lost what was on it: the write-ahead log is damaged before commits that had been synced. */
import { expect, test } from "bun:test";
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { oneProcess } from "../one-process.ts";

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

for (const args of [[], ["--store-thread"], ["--listeners", "2"]]) {
  test(`a start says that commits are lost which were on disk, once, and serves (${args.join(" ") || "one thread"})`, async () => {
    await start({ args });
    await reached(service(), await post(), "delivered");
    await kill();
    const wal = join(folder(), "postrider.db-wal");
    const { size } = statSync(wal);
    const file = openSync(wal, "r+");
    writeSync(file, new Uint8Array(512).fill(0x55), 0, 512, Math.floor(size / 2));
    closeSync(file);

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

test("a service that was killed under load loses nothing, and says nothing of a damaged log", async () => {
  await start();
  await Promise.all(Array.from({ length: 20 }, post));
  await kill();
  await start();
  expect(service().output()).not.toContain("log is damaged");
});
