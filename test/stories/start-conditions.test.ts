import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores(() => {
  const OTHERS = 0o077;

  const folders = [makeDataFolder(), makeDataFolder()] as const;
  let service: PostriderProcess;

  beforeAll(async () => {
    chmodSync(folders[0].path, 0o755);
    service = await startPostrider({ dataFolder: folders[0].path });
  });

  afterAll(async () => {
    service.kill("SIGTERM");
    await service.exited;
    for (const folder of folders) folder.remove();
  });

  test("a port another process listens on is not shared: the second process refuses to start", async () => {
    const port = new URL(service.url).port;
    const second = startPostrider({ dataFolder: folders[1].path, env: { PORT: port } });
    second.then(
      ({ kill }) => kill("SIGKILL"),
      () => {},
    );
    await expect(second).rejects.toThrow(`Is port ${port} in use?`);
  });

  test("what is in the data folder is its owner's only, in a folder that is open to others too", () => {
    const files = readdirSync(folders[0].path).filter((name) => !name.startsWith("."));
    expect(files).toContain("sandbox.json");
    for (const file of files) {
      expect([file, statSync(join(folders[0].path, file)).mode & OTHERS]).toEqual([file, 0]);
    }
  });

  test("a configured connector has its line in the metrics", async () => {
    const config = { host: "127.0.0.1", port: 1 };
    const { id } = await admin(service, "/connectors", { kind: "smtp", name: "relay", config });
    const line = `postrider_connector_up{connector="${id}"} `;
    await until(
      async () => (await fetch(`${service.url}/metrics`)).text(),
      (text) => text.includes(line),
    );
  });
});

test("a data folder that cannot be made is called that, with what to do", async () => {
  const { path, remove } = makeDataFolder();
  writeFileSync(join(path, "file"), "");
  const { code, output } = await runPostrider({ env: { POSTRIDER_DATA: join(path, "file") } });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^postrider cannot start: the data folder \S+file cannot be made or written \(EEXIST.*\): .*POSTRIDER_DATA\n$/,
  );
  remove();
});

test("a file that the user may not read or write is named, with what to do", async () => {
  const { path, remove } = makeDataFolder();
  const started = await startPostrider({ dataFolder: path });
  started.kill("SIGKILL");
  await started.exited;
  // Root may read and write everything, unless it gives that up.
  const before = `[ "$(id -u)" != 0 ] || exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"`;
  for (const [name, mode, said] of [
    ["postrider.db-shm", 0o400, "cannot be made or written"],
    ["postrider.db", 0o400, "cannot be made or written"],
    ["master.key", 0o000, "cannot be read"],
  ] as const) {
    const file = join(path, name);
    chmodSync(file, mode);
    const { code, output } = await runPostrider({ dataFolder: path, before });
    chmodSync(file, 0o600);
    expect([code, output]).toEqual([1, expect.stringContaining(said)]);
    expect(output).toMatch(
      new RegExp(`^postrider cannot start: .*EACCES.*${file}.* the user that runs this`),
    );
  }
  rmSync(join(path, "master.key"));
  mkdirSync(join(path, "master.key"));
  const { code, output } = await runPostrider({ dataFolder: path });
  expect([code, output]).toEqual([
    1,
    expect.stringContaining(join(path, "master.key cannot be read (EISDIR")),
  ]);
  remove();
});

test("a disk too full to start on is called that, at the next start too, and the first with room is the first start", async () => {
  const { path, remove } = makeDataFolder();
  const start = (octets: number) =>
    runPostrider({ dataFolder: path, before: `trap '' XFSZ; ulimit -f ${octets / 512}` });
  for (const octets of [512_000, 0]) {
    expect(await start(octets)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/cannot be (opened|locked): (disk I\/O error|database or disk is full)/),
    });
  }
  const service = await startPostrider({ dataFolder: path });
  expect(service.output()).toContain("has made a sandbox account");
  service.kill("SIGTERM");
  await service.exited;
  remove();
});

test("a first start without any room names the folder and what to do, and leaves no piece of a key there", async () => {
  const { path, remove } = makeDataFolder();
  const refused = await runPostrider({ dataFolder: path, before: "trap '' XFSZ; ulimit -f 0" });
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(`cannot start: no master key can be written to ${path} (EFBIG`);
  expect(refused.output).toContain("make room on its disk");
  expect(readdirSync(path)).toEqual([]);
  remove();
});

test("SIGTERM to npm start stops the service, and leaves no process behind", async () => {
  const { path, remove } = makeDataFolder();
  const npm = spawn("npm", ["start"], {
    cwd: join(import.meta.dir, "../.."),
    detached: true,
    env: { PATH: process.env.PATH, HOME: path, POSTRIDER_DATA: path, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  npm.stdout.on("data", (text) => {
    if (String(text).includes('"msg":"ready"')) npm.kill("SIGTERM");
  });
  await once(npm, "exit");
  // Nobody is left in its group to take a signal.
  expect(() => process.kill(-npm.pid!, "SIGKILL")).toThrow("ESRCH");
  remove();
});
