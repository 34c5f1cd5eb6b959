/** What operators install with, as far as it can be judged without Docker and without being systemd. */
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keptPort } from "./fakes/kept-port.ts";

const DEPLOY = join(import.meta.dir, "../deploy");
const read = (name: string) => readFileSync(join(DEPLOY, name), "utf8");

/** What the build sees: a list of exceptions from everything. */
const context = read("Dockerfile.dockerignore")
  .split("\n")
  .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));

test("everything that the image copies is there, and is not left out of its context", () => {
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = ""]) =>
    names.split(" "),
  );
  expect(copied).toContain("src");
  for (const name of copied) {
    expect([name, existsSync(join(DEPLOY, "..", name))]).toEqual([name, true]);
    expect(context).toContain(name);
  }
});

test("the image runs as nobody special, keeps its data in a volume, and is asked for its health", () => {
  const lines = read("Dockerfile").split("\n");
  expect(lines).toContain("USER node");
  expect(lines).toContain("VOLUME /data");
  expect(lines.some((line) => line.startsWith("HEALTHCHECK"))).toBe(true);
  expect(read("Dockerfile")).toContain("/healthz");
});

test("the health check that the image has succeeds where the service answers, and fails where nobody does", async () => {
  const words = /CMD (\["node", "-e".+\])$/m.exec(read("Dockerfile"))?.[1] ?? "[]";
  const [, , program = ""] = JSON.parse(words) as string[];
  const server = Bun.serve({
    port: await keptPort(),
    fetch: ({ url }) => new Response(null, { status: url.endsWith("/healthz") ? 200 : 404 }),
  });
  const run = () =>
    Bun.spawn([process.execPath, "-e", program], { env: { PORT: String(server.port) } }).exited;
  expect(await run()).toBe(0);
  await server.stop(true);
  expect(await run()).toBe(1);
});

test("systemd finds nothing wrong with the unit", () => {
  const unit = read("postrider.service");
  expect(unit).toContain("\nExecStart=/usr/local/bin/postrider serve\n");
  const analyze = Bun.which("systemd-analyze");
  if (analyze === null) return;
  const folder = mkdtempSync(join(tmpdir(), "postrider-unit-"));
  const path = join(folder, "postrider.service");
  // What is not installed on this machine: the program and its user.
  writeFileSync(
    path,
    unit.replaceAll("/usr/local/bin/postrider", process.execPath).replace(/=postrider$/gm, "=root"),
  );
  const { exitCode, stderr, stdout } = Bun.spawnSync([analyze, "verify", path]);
  rmSync(folder, { recursive: true });
  expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: "" });
});
