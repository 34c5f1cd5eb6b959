/** What operators install with, as far as it can be judged without Docker and without being systemd. */
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reached, send } from "./admin.ts";
import { blocksOf } from "./documented-commands.ts";
import { keptPort } from "./fakes/kept-port.ts";
import { freshDatabase } from "./postgres-database.ts";
import { makeDataFolder, startPostrider } from "./postrider-process.ts";

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

interface ComposeService {
  readonly build?: { readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const SECRETS = { POSTRIDER_SECRET: "0123456789abcdef".repeat(4), POSTGRES_PASSWORD: "fedcba98".repeat(8) };

/** With the values of the variables that it requires, as Docker would fill them in. */
function readCompose(name: string): ComposeFile {
  const filled = read(name).replace(
    /\$\{(\w+):\?\}/g,
    (_, variable) => SECRETS[variable as keyof typeof SECRETS],
  );
  expect(filled).not.toContain("$");
  return Bun.YAML.parse(filled) as ComposeFile;
}

test.each(["compose.yaml", "compose.postgresql.yaml"])("what %s names is there", (name) => {
  const { services, volumes } = readCompose(name);
  for (const { build, volumes: mounted, depends_on: needed = {} } of Object.values(services)) {
    if (build) expect(existsSync(join(DEPLOY, "..", build.dockerfile))).toBe(true);
    for (const mount of mounted) expect(Object.keys(volumes)).toContain(mount.split(":")[0] ?? "");
    for (const service of Object.keys(needed)) expect(Object.keys(services)).toContain(service);
  }
});

test("the processes of the compose file with PostgreSQL find the database that is made there, and deliver a message", async () => {
  const { api, worker, postgres } = readCompose("compose.postgresql.yaml").services;
  const { hostname, username, password, pathname } = new URL(api!.environment.DATABASE_URL!);
  const { POSTGRES_USER: user, POSTGRES_PASSWORD: secret } = postgres!.environment;
  expect([hostname, username, password]).toEqual(["postgres", user!, secret!]);
  // The image names the database after the user.
  expect(pathname).toBe(`/${user}`);
  expect(postgres!.healthcheck?.test.slice(-2)).toEqual(["-U", user!]);
  const database = await freshDatabase();
  const folder = makeDataFolder();
  const start = async ({ command, environment }: ComposeService) => {
    const { DATABASE_URL: _, ...env } = environment;
    expect(command?.[0]).toBe("serve");
    const args = command!.slice(1);
    return startPostrider({ dataFolder: folder.path, databaseUrl: database.url, args, env });
  };
  const first = await start(api!);
  const workers = [await start(worker!), await start(worker!)];
  for (const { url } of workers) expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const { api_key: apiKey } = first.sandbox;
  const path = "/v1/sms/messages";
  const { body } = await send(first, {
    apiKey,
    path,
    body: { to: "+919812345678", dlt_template_id: "1107160000000000001" },
  });
  await reached(first, { apiKey, path: `${path}/${body.message_id}` }, "delivered");
  for (const service of [first, ...workers]) service.kill("SIGTERM");
  expect(await Promise.all([first, ...workers].map(({ exited }) => exited))).toEqual([0, 0, 0]);
  await database.drop();
  folder.remove();
}, 120_000);

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

test("the documented backup as the unit's user runs with an environment file, and without one", () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-environment-"));
  const environment = join(folder, "environment");
  // In place of another user and of the program: what it is given.
  writeFileSync(join(folder, "runuser"), '#!/bin/sh\necho "$POSTRIDER_DATA $DATABASE_URL $*"\n', {
    mode: 0o755,
  });
  const [, page = ""] =
    /^sudo (sh -c '[^']*')$/m.exec(blocksOf("deploy.md", "systemd").at(-1)?.text ?? "") ?? [];
  const command = page.replaceAll("/etc/postrider/environment", environment);
  const run = () => {
    const { exitCode, stdout } = Bun.spawnSync(["sh", "-c", command], {
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
    return `${exitCode}: ${stdout}`;
  };
  const backup = "-u postrider -- postrider backup --to /backup\n";
  expect(run()).toBe(`0: /var/lib/postrider  ${backup}`);
  writeFileSync(environment, "DATABASE_URL=postgres://db/x\n");
  expect(run()).toBe(`0: /var/lib/postrider postgres://db/x ${backup}`);
  rmSync(folder, { recursive: true });
});
