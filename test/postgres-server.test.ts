import { expect, test } from "bun:test";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binaries, initialize, isRoot, keepServer, OTHER_USER } from "./postgres-server.ts";
import { until } from "./until.ts";

test("a server ends with the process that started it, also where the runner has killed its shell", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-kept-"));
  if (isRoot()) chownSync(folder, OTHER_USER, OTHER_USER);
  const bin = binaries();
  await initialize(bin, folder);
  const server = [join(bin, "postgres"), "-D", join(folder, "data")];
  const keeper = keepServer(folder, [...server, "-c", "listen_addresses=", "-k", folder]);
  const log = join(folder, "log");
  await until(
    () => existsSync(log) && readFileSync(log, "utf8"),
    (text) => String(text).includes("ready to accept connections"),
  );
  keeper.kill("SIGKILL");
  await once(keeper, "exit");
  expect(existsSync(folder)).toBe(true);

  keeper.stdin?.end();
  await until(() => !existsSync(folder));
});
