/** The first two minutes of a newcomer, and a first start that is cut off. */
import { expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { reached } from "../admin.ts";
import { databaseOf, onBothStores } from "../both-stores.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { oneProcess } from "../one-process.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  runPostrider,
  startCommand,
  startPostrider,
} from "../postrider-process.ts";

/** The files of a first start, in their order, and how often it is killed after it has written to them. */
const WRITES = {
  sqlite: { "master.key": 1, "postrider.db": 1, "postrider.db-wal": 7, "sandbox.json": 2 },
  postgres: { "sandbox.json": 2 },
};

onBothStores((store) => {
  const { folder, service, start, stop } = oneProcess();

  const fileOf = (name: string) => join(folder(), name);

  test("sandbox.json holds what a newcomer needs, and only its owner reads it", async () => {
    const { url } = await start();
    expect(statSync(fileOf("sandbox.json")).mode & 0o777).toBe(0o600);
    if (store === "sqlite") expect(statSync(fileOf("master.key")).mode & 0o777).toBe(0o600);
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(JSON.parse(readFileSync(fileOf("sandbox.json"), "utf8"))).toEqual({
      base_url: url,
      account_id: expect.stringMatching(uuid),
      api_key: expect.stringMatching(/^pr_live_[0-9A-Za-z]{38}$/),
      push_app_id: expect.stringMatching(uuid),
      admin_token: expect.stringMatching(/^pr_admin_\S{30,}$/),
      console_url: `${url}/console`,
      console_password: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
    });
  });

  test("a sandbox.json that is there already, even as a link, neither keeps its mode nor leads elsewhere", async () => {
    const elsewhere = fileOf("elsewhere");
    writeFileSync(elsewhere, "another's", { mode: 0o644 });
    symlinkSync(elsewhere, fileOf("sandbox.json"));
    const { sandbox } = await start();
    expect(sandbox.admin_token).toStartWith("pr_admin_");
    expect(lstatSync(fileOf("sandbox.json")).isFile()).toBe(true);
    expect(statSync(fileOf("sandbox.json")).mode & 0o777).toBe(0o600);
    expect(readFileSync(elsewhere, "utf8")).toBe("another's");
  });

  test("the line it prints is answered 202 as it stands, and the message is delivered a moment later", async () => {
    const { sandbox, output } = await start();
    const [, printed = ""] = /^( {2}curl [\s\S]*?)\n\n/m.exec(output()) ?? [];
    const answer = await runCurl(printed);
    expect(answer).toMatchObject({ status: 202, body: { status: "queued", to: "+919876543210" } });
    const { message_id } = answer.body;
    const message = { apiKey: sandbox.api_key, path: `/v1/sms/messages/${message_id}` };
    expect(await reached(service(), message, "delivered", "failed")).toMatchObject({ status: "delivered" });
    const acceptedAt = Number.parseInt(message_id.replaceAll("-", "").slice(0, 12), 16);
    expect(Date.now() - acceptedAt).toBeLessThan(15_000);
  });

  interface Answered {
    readonly status: number;
    readonly body: { readonly message_id: string };
  }

  /** Has a shell run the line: with curl, or, where there is none, with a function of its name that says what it was given. */
  async function runCurl(line: string): Promise<Answered> {
    if (Bun.which("curl")) {
      const output = await runShell(`${line} -w '\n%{http_code}'`);
      const end = output.lastIndexOf("\n");
      return { status: Number(output.slice(end)), body: JSON.parse(output.slice(0, end)) };
    }
    const given = (await runShell(`curl() { printf '%s\\0' "$@"; }\n${line}`)).split("\0").slice(0, -1);
    const valuesOf = (option: string) => given.filter((_, index) => given[index - 1] === option);
    const headers = valuesOf("-H").map((header): [string, string] => {
      const colon = header.indexOf(":");
      return [header.slice(0, colon), header.slice(colon + 1).trim()];
    });
    const url = given.find((each) => each.startsWith("http"))!;
    const response = await fetch(url, { method: "POST", headers, body: valuesOf("-d")[0]! });
    return { status: response.status, body: (await response.json()) as Answered["body"] };
  }

  function runShell(line: string): Promise<string> {
    return new Response(Bun.spawn(["sh", "-c", line], { stdout: "pipe" }).stdout).text();
  }

  test("the keys are printed once, and a second start changes nothing", async () => {
    const env = { PORT: String(await keptPort()) };
    const first = await start({ env });
    const { api_key } = first.sandbox;
    expect(first.output().split(api_key).length - 1).toBeGreaterThan(0);
    const logged = first
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .join("\n");
    expect(logged).not.toContain(api_key);
    const before = readFileSync(fileOf("sandbox.json"), "utf8");
    await stop();

    const second = await start({ env });
    expect(second.output()).not.toContain(api_key);
    expect(second.output()).not.toContain("curl");
    expect(readFileSync(fileOf("sandbox.json"), "utf8")).toBe(before);
    await expectKeyWorks(second, api_key);
  });

  test("where sandbox.json cannot be written nothing is stored, and the next start is the first", async () => {
    mkdirSync(fileOf("sandbox.json"));
    const { code, output } = await runPostrider({ dataFolder: folder() });
    expect(code).toBe(1);
    expect(output).toContain("sandbox.json");
    expect(output).not.toContain("curl");
    rmdirSync(fileOf("sandbox.json"));
    const next = await start();
    expect(next.output()).toContain("curl");
    await expectKeyWorks(next, next.sandbox.api_key);
  });

  test("a file that a first start left without its commit is replaced by one whose keys work", async () => {
    writeFileSync(fileOf("sandbox.json"), '{"api_key":"pr_live_stale"');
    const { sandbox } = await start();
    expect(sandbox.api_key).not.toBe("pr_live_stale");
    await expectKeyWorks(service(), sandbox.api_key);
  });

  test("killed at any moment of the first start, the next start has keys that work", async () => {
    const wasReady: boolean[] = [];
    // One after the other: beside others, the kill would come later than meant.
    for (const [name, times] of Object.entries(WRITES[store])) {
      for (let nth = 1; nth <= times; nth++) {
        const fresh = makeDataFolder();
        wasReady.push(await startAndKill(fresh.path, { name, nth }));
        const next = await startPostrider({ dataFolder: fresh.path });
        await expectKeyWorks(next, next.sandbox.api_key);
        next.kill("SIGKILL");
        await next.exited;
        fresh.remove();
      }
    }
    expect(wasReady).toContain(false);
  }, 120_000);

  /** Kills a start as soon as it has written to the file for the nth time, or is ready, which it resolves with. */
  async function startAndKill(path: string, { name, nth }: { name: string; nth: number }): Promise<boolean> {
    const written = Promise.withResolvers<void>();
    let times = 0;
    const watcher = watch(path, (_, changed) => {
      if (changed === name && ++times === nth) written.resolve();
    });
    const databaseUrl = await databaseOf(path);
    const where = { dataFolder: path, ...(databaseUrl !== undefined && { databaseUrl }) };
    const start = startCommand({ command: "serve", ...where });
    await Promise.race([written.promise, start.line(/"msg":"ready"/)]);
    start.kill("SIGKILL");
    await start.exited;
    watcher.close();
    return start.output().includes('"msg":"ready"');
  }

  async function expectKeyWorks({ url }: PostriderProcess, key: string): Promise<void> {
    const path = `${url}/v1/sms/messages/00000000-0000-7000-8000-000000000000`;
    const response = await fetch(path, { headers: { Authorization: `Bearer ${key}` } });
    expect(response.status).toBe(404);
  }
});
