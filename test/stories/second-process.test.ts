/** Two processes on one data folder would send everything twice. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";

let folder: ReturnType<typeof makeDataFolder>;
let first: PostriderProcess;

beforeEach(async () => {
  folder = makeDataFolder();
  first = await startPostrider({ dataFolder: folder.path });
});

afterEach(async () => {
  first.kill("SIGKILL");
  await first.exited;
  folder.remove();
});

async function expectServing(service: PostriderProcess): Promise<void> {
  const apiKey = service.sandbox.api_key;
  const path = "/v1/sms/messages";
  const body = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
  const answer = await send(service, { apiKey, path, body });
  expect(answer.status).toBe(202);
  await reached(service, { apiKey, path: `${path}/${answer.body.message_id}` }, "delivered");
}

for (const roles of ["api,delivery,webhooks,upkeep", "api"]) {
  test(`a second process (--roles ${roles}) ends at once, says why, and the first goes on`, async () => {
    const sandbox = readFileSync(join(folder.path, "sandbox.json"), "utf8");
    const second = await runPostrider({ dataFolder: folder.path, args: ["--roles", roles] });
    expect(second.code).toBe(1);
    expect(second.output.trim().split("\n")).toEqual([
      `postrider cannot start: the data folder ${folder.path} is taken: another process is using it; stop it, or give this one a folder of its own (POSTRIDER_DATA)`,
    ]);
    expect(readFileSync(join(folder.path, "sandbox.json"), "utf8")).toBe(sandbox);
    await expectServing(first);
  });
}

test("a second process is refused also where somebody has deleted the lock, as often as it is started", async () => {
  const lock = join(folder.path, "postrider.lock");
  rmSync(lock);
  for (let start = 0; start < 2; start++) {
    const second = await runPostrider({ dataFolder: folder.path });
    expect(second).toMatchObject({ code: 1, output: expect.stringContaining(`${folder.path} is taken`) });
    // Its own lock would let in the next one.
    expect(existsSync(lock)).toBe(false);
  }
  await expectServing(first);
  first.kill("SIGKILL");
  await first.exited;
  first = await startPostrider({ dataFolder: folder.path });
  await expectServing(first);
});

const REPLACEMENTS: Readonly<Record<string, (lock: string) => void>> = {
  "made anew": (lock) => {
    rmSync(lock);
    writeFileSync(lock, "");
  },
  "put back from a copy": (lock) => {
    const times = statSync(lock);
    copyFileSync(lock, `${lock}-copy`);
    utimesSync(`${lock}-copy`, times.atime, times.mtime);
    renameSync(`${lock}-copy`, lock);
  },
};

for (const [how, replace] of Object.entries(REPLACEMENTS)) {
  test(`a service or command beside the first is refused also where its lock was ${how}`, async () => {
    replace(join(folder.path, "postrider.lock"));
    for (const command of ["serve", "rotate-key", "serve"]) {
      const second = await runPostrider({ dataFolder: folder.path, command });
      expect([command, second.code]).toEqual([command, 1]);
      expect(second.output).toContain(`${folder.path} is taken: another process is using it`);
    }
    await expectServing(first);
    first.kill("SIGKILL");
    await first.exited;
    first = await startPostrider({ dataFolder: folder.path });
    await expectServing(first);
  });
}

test("however the first process ended, the next one has the folder", async () => {
  for (const signal of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
    first.kill(signal);
    await first.exited;
    first = await startPostrider({ dataFolder: folder.path });
    await expectServing(first);
  }
}, 180_000);

test("of several started together on a new folder exactly one serves, and the folder is whole", async () => {
  const fresh = makeDataFolder();
  const started = await Promise.allSettled(
    Array.from({ length: 4 }, () => startPostrider({ dataFolder: fresh.path })),
  );
  const serving = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const refused = started.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  expect(serving).toHaveLength(1);
  for (const reason of refused) expect(reason).toContain("is taken: another process is using it");
  serving[0]!.kill("SIGKILL");
  await serving[0]!.exited;
  expect(readdirSync(fresh.path).filter((name) => name.startsWith("master.key"))).toEqual(["master.key"]);
  const next = await startPostrider({ dataFolder: fresh.path });
  await expectServing(next);
  next.kill("SIGKILL");
  await next.exited;
  fresh.remove();
});
