/** A configuration that cannot work is refused whole, in words that say what to do, and leaves nothing behind. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { onBothStores } from "../both-stores.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { testTls } from "../fakes/test-tls.ts";
import { makeDataFolder, runPostrider, startPostrider } from "../postrider-process.ts";

let folder: ReturnType<typeof makeDataFolder>;

beforeEach(() => {
  folder = makeDataFolder();
});

afterEach(() => folder.remove());

/** What a start on the folder says before it ends with 1. */
async function refusal(env: Record<string, string> = {}, args: readonly string[] = []): Promise<string> {
  const { code, output } = await runPostrider({ dataFolder: folder.path, env, args });
  expect(code).toBe(1);
  expect(output).not.toMatch(/^\s+at /m);
  return output;
}

/** Starts, and stops at once. */
async function startAndStop(env: Record<string, string> = {}): Promise<string> {
  const service = await startPostrider({ dataFolder: folder.path, env });
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  return service.sandbox.api_key;
}

test("all that is wrong is said at once, one line each, and no data folder is made", async () => {
  const path = join(folder.path, "data");
  const notPem = join(folder.path, "cert.pem");
  writeFileSync(notPem, "not a certificate");
  const env = {
    POSTRIDER_DATA: path,
    PORT: "80800",
    LOG_LEVEL: "loud",
    POSTRIDER_SECRET: "short",
    TRUSTED_PROXIES: "10.0.0.0/8, 300.1.1.1",
    TLS_CERT: notPem,
    TLS_KEY: join(folder.path, "nowhere.pem"),
    DATABASE_URL: "mysql://postrider@127.0.0.1/postrider",
  };
  const output = await refusal(env, ["--roles", "api,sending"]);
  const [heading, ...problems] = output.trim().split("\n");
  expect(heading).toBe("postrider cannot start with this configuration:");
  expect(problems.map((line) => /^ {2}([\w-]+):/.exec(line)?.[1]).toSorted()).toEqual([
    "--roles",
    "DATABASE_URL",
    "LOG_LEVEL",
    "PORT",
    "POSTRIDER_SECRET",
    "TLS_CERT",
    "TLS_KEY",
    "TRUSTED_PROXIES",
  ]);
  expect(existsSync(path)).toBe(false);
});

test("TLS_CERT without TLS_KEY is refused", async () => {
  const cert = join(folder.path, "cert.pem");
  writeFileSync(cert, testTls.cert);
  expect(await refusal({ TLS_CERT: cert })).toContain("TLS_CERT and TLS_KEY: set both");
});

onBothStores((store) => {
  test("PEM files that are no certificate and key are refused, and the next start is the first", async () => {
    const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
    writeFileSync(cert, testTls.key);
    writeFileSync(key, testTls.cert);
    expect(await refusal({ TLS_CERT: cert, TLS_KEY: key })).toMatch(/TLS/);
    expect(existsSync(join(folder.path, "sandbox.json"))).toBe(false);
    await startAndStop();
  });

  test("another master key than the database's is refused, and the right one still opens it", async () => {
    const right = { POSTRIDER_SECRET: "the right secret of this instance" };
    const apiKey = await startAndStop(right);
    expect(await refusal({ POSTRIDER_SECRET: "a wrong secret of this instance" })).toMatch(
      /master key|POSTRIDER_SECRET/,
    );
    expect(await refusal()).toMatch(/master key|POSTRIDER_SECRET/);
    expect(await startAndStop(right)).toBe(apiKey);
  });

  test("a port that is taken is said, and the next start is the first", async () => {
    const server = createServer();
    const port = await keptPort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    expect(await refusal({ PORT: String(port) })).toMatch(new RegExp(`port ${port}`));
    expect(existsSync(join(folder.path, "sandbox.json"))).toBe(false);
    await new Promise((resolve) => server.close(resolve));
    await startAndStop({ PORT: String(port) });
  });

  test.each([
    ["nosuch.invalid", "leads to no address"],
    ["::zz", "leads to no address"],
    ["203.0.113.7", "is no address of this machine"],
  ])("a HOST that cannot be listened on is said: %s", async (host, problem) => {
    expect(await refusal({ HOST: host })).toContain(
      `cannot start: HOST is "${host}", and that ${problem}: give an address of this machine, or 0.0.0.0 or :: for all`,
    );
  });

  test("a data folder that cannot be made is said", async () => {
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    expect(await refusal({ POSTRIDER_DATA: join(file, "data") })).toContain(join(file, "data"));
  });

  // PostgreSQL has no file, and its master key is given.
  if (store === "sqlite") {
    test("a database whose key file is missing is refused, no new key is made, and with the file back it opens", async () => {
      await startAndStop();
      const file = join(folder.path, "master.key");
      renameSync(file, `${file}.away`);
      const output = await refusal();
      expect(output).toContain(`${file} is missing`);
      expect(output).toContain("POSTRIDER_SECRET");
      expect(existsSync(file)).toBe(false);
      renameSync(`${file}.away`, file);
      await startAndStop();
    });

    test("a key file that was cut short is refused, and is not taken for a key of a new folder either", async () => {
      const file = join(folder.path, "master.key");
      writeFileSync(file, "\n");
      expect(await refusal()).toContain(file);
      expect(existsSync(join(folder.path, "postrider.db"))).toBe(false);
    });

    test("a file that is no database is refused and left as it is", async () => {
      const path = join(folder.path, "postrider.db");
      const text = "This is not a database, but somebody's diary. ".repeat(100);
      writeFileSync(join(folder.path, "master.key"), `${"5".repeat(64)}\n`);
      writeFileSync(path, text);
      expect(await refusal()).toMatch(/postrider\.db.*not a database/);
      expect(readFileSync(path, "utf8")).toBe(text);
    });
  }
});
