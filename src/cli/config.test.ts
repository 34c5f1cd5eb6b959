import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testTls } from "../../test/fakes/test-tls.ts";
import { folderUntilTheEnd } from "../../test/temp-folder.ts";
import { readConfig } from "./config.ts";

test("an empty environment gives the documented defaults", () => {
  const result = readConfig({});
  if (!("config" in result)) throw new Error("refused");
  expect(result.config).toMatchObject({ host: "127.0.0.1", port: 8080, logLevel: "info" });
  expect(result.config.dataFolder.endsWith("/data")).toBe(true);
  expect([...result.config.roles]).toEqual(["api", "delivery", "webhooks", "upkeep"]);
});

test("all problems of a configuration are reported at once", () => {
  const result = readConfig(
    {
      PORT: "http",
      LOG_LEVEL: "loud",
      TRUSTED_PROXIES: "10.0.0.0/33",
      TLS_CERT: "/nowhere/cert.pem",
      POSTRIDER_SECRET: "short",
      DATABASE_URL: "postgres:/localhost/x",
    },
    { roles: "api,nothing" },
  );
  if (!("problems" in result)) throw new Error("accepted");
  const names = result.problems.map((problem) => problem.split(/[: ]/)[0]);
  expect(names.sort()).toEqual([
    "--roles",
    "DATABASE_URL",
    "LOG_LEVEL",
    "PORT",
    "POSTRIDER_SECRET",
    "TLS_CERT",
    "TRUSTED_PROXIES",
  ]);
});

test("a variable under a name that is not read is refused, since the service would start with an empty database", () => {
  for (const [env, meant] of [
    [{ POSTRIDER_DATA_DIR: "/srv" }, "POSTRIDER_DATA"],
    [{ POSTRIDER_DATABASE_URL: "postgres://me@a/x" }, "DATABASE_URL"],
    [{ POSTRIDER_PORT: "8081" }, "PORT"],
    [{ POSTRIDER_MASTER_KEY: "a key of good length" }, "POSTRIDER_SECRET"],
  ] as const) {
    const problems = [`${Object.keys(env)[0]}: not read; the variable is ${meant}`];
    expect(readConfig(env)).toEqual({ problems });
  }
});

test("variables for something else are nobody's business: of Kubernetes, of a compose file, of the command line", () => {
  for (const env of [
    { POSTRIDER_PORT: "tcp://10.0.0.7:8080", POSTRIDER_PORT_8080_TCP_PORT: "8080" },
    { POSTRIDER_PORT: "8081", PORT: "8080" },
    { POSTRIDER_PORT: "", POSTRIDER_HOME: "/opt/postrider", POSTRIDER_URL: "http://a", DATA_DIR: "/srv" },
  ])
    expect(readConfig(env)).toContainKey("config");
});

test("a port is shared by processes on one PostgreSQL only", () => {
  expect(readConfig({}, { sharePort: true })).toEqual({
    problems: [expect.stringContaining("--share-port")],
  });
});

test("a thread of the store's own is for slow disks, unless the command line says otherwise or several threads write", () => {
  for (const [options, storeThread] of [
    [{}, "on a slow disk"],
    [{ storeThread: true }, "always"],
    [{ storeThread: false }, "never"],
    [{ listeners: "2" }, "never"],
  ] as const) {
    expect(readConfig({}, options)).toMatchObject({ config: { storeThread } });
  }
});

test("with DATABASE_URL the master key is given, and what is of SQLite only is refused", () => {
  const env = { DATABASE_URL: "postgres://me:hidden@a,b/x", POSTRIDER_DATA: "/nowhere" };
  const result = readConfig(env, { storeThread: true, listeners: "2" });
  if (!("problems" in result)) throw new Error("accepted");
  expect(result.problems.join("\n")).toMatch(
    /POSTRIDER_SECRET: required[\s\S]*--store-thread:[\s\S]*--listeners:/,
  );
  expect(result.problems.join("\n")).not.toContain("hidden");
  const good = readConfig({ ...env, POSTRIDER_SECRET: "0123456789abcdef" });
  expect("config" in good && good.config.databaseUrl).toBe(env.DATABASE_URL);
});

test("--roles names the parts that run", () => {
  const result = readConfig({}, { roles: "api,upkeep" });
  expect("config" in result && [...result.config.roles]).toEqual(["api", "upkeep"]);
});

test("a value from a file with Windows line ends is refused, instead of naming another folder or key", () => {
  const env = { HOST: "::1", POSTRIDER_DATA: "/var/lib/postrider\r", POSTRIDER_SECRET: "0123456789abcdef\r" };
  expect(readConfig(env)).toEqual({
    problems: [
      expect.stringMatching(/^POSTRIDER_DATA: ends in a carriage return/),
      expect.stringMatching(/^POSTRIDER_SECRET: ends in a carriage return/),
    ],
  });
});

test("an IPv6 address in brackets is that address", () => {
  const result = readConfig({ HOST: "[::1]", BOUNCE_HOST: "[::]", BOUNCE_PORT: "25" });
  expect(result).toMatchObject({ config: { host: "::1", bounce: { host: "::" } } });
});

test("a certificate or key in the place of its file's path is refused, and not shown", () => {
  const pem = "-----BEGIN PRIVATE KEY-----\nhidden\n-----END PRIVATE KEY-----\n";
  for (const text of [
    pem,
    pem.replaceAll("\n", ""),
    Buffer.from(pem).toString("base64"),
    "hidden\nhidden\n",
  ]) {
    const result = readConfig({ TLS_CERT: text, TLS_KEY: text });
    const problems = "problems" in result ? result.problems : [];
    expect(problems).toHaveLength(2);
    for (const problem of problems) {
      expect(problem).toMatch(/^TLS_(CERT|KEY): contains a certificate or a key/);
      expect(problem).not.toMatch(/hidden|aGlkZGVu/);
    }
  }
});

test("a byte order mark before a certificate or a key is none of it, nor one within a chain", () => {
  const folder = folderUntilTheEnd("postrider-tls-");
  const fileOf = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const result = readConfig({
    TLS_CERT: fileOf("cert.pem", `\uFEFF${testTls.cert}\n\uFEFF${testTls.ca}\n`),
    TLS_KEY: fileOf("key.pem", `\uFEFF${testTls.key}\n`),
  });
  expect(result).toMatchObject({
    config: { tls: { cert: `${testTls.cert}\n${testTls.ca}\n`, key: `${testTls.key}\n` } },
  });
});

test("the addresses of trusted proxies are written in full: a short form would be another network", () => {
  for (const text of [
    "172.16/12",
    "10/8",
    "010.0.0.0/8",
    "0x0a.0.0.0/8",
    "10.0.0.0/",
    "10.0.0.0/8/9",
    "127.1",
  ]) {
    const result = readConfig({ TRUSTED_PROXIES: text });
    expect("problems" in result && result.problems).toEqual([
      `TRUSTED_PROXIES: expected addresses or CIDR ranges separated by commas, got "${text}"`,
    ]);
  }
  const result = readConfig({ TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.1,fd00::/8, ::1" });
  const trusted = "config" in result ? result.config.trustedProxies : [];
  expect(trusted.map(String)).toEqual(["10.0.0.0/8", "192.0.2.1/32", "fd00::/8", "::1/128"]);
});

test("the port for probes and metrics is at the address of the service, unless it has one of its own", () => {
  const read = (env: Record<string, string>) => {
    const result = readConfig({ HOST: "10.0.0.5", ...env });
    return "config" in result ? (result.config.metrics ?? "none") : result.problems;
  };
  expect(read({})).toBe("none");
  expect(read({ METRICS_PORT: "9464" })).toEqual({ host: "10.0.0.5", port: 9464 });
  expect(read({ METRICS_PORT: "9464", METRICS_HOST: "[::1]" })).toEqual({ host: "::1", port: 9464 });
  expect(read({ METRICS_PORT: "many" })).toEqual([
    'METRICS_PORT: expected a number from 0 to 65535, got "many"',
  ]);
});

test("a port for probes and metrics that is another one already is refused, and any free one is none", () => {
  const problems = (env: Record<string, string>) => {
    const result = readConfig(env);
    return "problems" in result ? result.problems : [];
  };
  expect(problems({ METRICS_PORT: "8080" })).toEqual([
    "METRICS_PORT: 8080 is PORT already; /healthz, /readyz and /metrics need a port of their own",
  ]);
  expect(problems({ PORT: "9464", BOUNCE_PORT: "9464", METRICS_PORT: "9464" })).toEqual([
    expect.stringContaining("9464 is PORT already"),
    expect.stringContaining("9464 is BOUNCE_PORT already"),
  ]);
  expect(problems({ PORT: "0", BOUNCE_PORT: "0", METRICS_PORT: "0" })).toEqual([]);
});
