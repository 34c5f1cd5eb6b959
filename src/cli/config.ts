/** The only reader of the environment. Reports all problems together, in words that say what to do. */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { errorText } from "../core/error-text.ts";
import { present } from "../core/present.ts";
import { readHosts } from "../store/postgres/connections/hosts.ts";
import { readTls, type Tls, type TlsFiles } from "./http/tls-files.ts";
import { MASTER_KEY_FILE, MIN_KEY_LENGTH } from "./keys/master-key.ts";
import { misnamedVariables } from "./misnamed-variables.ts";

export const ROLES = ["api", "delivery", "webhooks", "upkeep"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absolute path of the data folder. */
  readonly dataFolder: string;
  /** The URL of the PostgreSQL database that holds everything; absent: SQLite in the data folder. */
  readonly databaseUrl?: string;
  /** The master key's text; absent: a file in the data folder. */
  readonly secret?: string;
  readonly logLevel: LogLevel;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly Cidr[];
  readonly tls?: Tls;
  /** Where `tls` was read, if newer ones can be read there: not from a pipe. */
  readonly tlsFiles?: TlsFiles;
  /** Address of the bounce listener; absent: there is none. Port 0: any free port. */
  readonly bounce?: { readonly host: string; readonly port: number };
  /** Address of the port for probes and metrics alone; absent: they are only at `port`. Port 0: any free port. */
  readonly metrics?: { readonly host: string; readonly port: number };
  readonly roles: ReadonlySet<Role>;
  /** When to write to SQLite on a separate thread (ADR 10). */
  readonly storeThread: "always" | "on a slow disk" | "never";
  /** Threads that take requests, including the main thread (ADR 13). */
  readonly listeners: number;
  /** Other processes listen on the same port; the kernel divides connections among them (SO_REUSEPORT). */
  readonly sharesPort: boolean;
}

export type Cidr = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigResult = { readonly config: Config } | { readonly problems: readonly string[] };

/** The options of `serve` on the command line. */
export interface ServeOptions {
  /** Comma separated; absent: all. */
  readonly roles?: string;
  /** Absent: on a slow disk. */
  readonly storeThread?: boolean;
  /** A number; absent: 1. */
  readonly listeners?: string;
  readonly sharePort?: boolean;
}

export function readConfig(env: Environment, options: ServeOptions = {}): ConfigResult {
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(problem);
  reportLineEnds(env, report);
  misnamedVariables(env, VARIABLES).forEach(report);
  const tls = readTls(env.TLS_CERT, env.TLS_KEY, report);
  const bounce = env.BOUNCE_PORT ? readBounce(env, report) : undefined;
  const metrics = env.METRICS_PORT ? readMetrics(env, report) : undefined;
  const listeners = readListeners(options, report);
  const config: Config = {
    host: bare(env.HOST || "127.0.0.1"),
    port: readPort("PORT", env.PORT || "8080", report),
    dataFolder: readDataFolder(env),
    ...(env.POSTRIDER_SECRET && { secret: readSecret(env.POSTRIDER_SECRET, report) }),
    ...(env.DATABASE_URL && { databaseUrl: readDatabaseUrl(env, options, report) }),
    logLevel: readLogLevel(env.LOG_LEVEL, report),
    trustedProxies: readProxies(env.TRUSTED_PROXIES, report),
    ...tls,
    ...present({ bounce, metrics }),
    roles: readRoles(options.roles, report),
    storeThread: readStoreThread(options, listeners),
    listeners,
    sharesPort: readSharesPort(env, options, report),
  };
  return problems.length > 0 ? { problems } : { config };
}

/** Absolute path of the data folder. The admin commands look there for a server to talk to. */
function readDataFolder(env: Environment): string {
  return resolve(env.POSTRIDER_DATA || "./data");
}

/** The environment of commands that work on the data folder or the database itself. */
export interface DataTarget {
  /** Absolute. */
  readonly dataFolder: string;
  /** `POSTRIDER_SECRET`: the master key's text, if no file holds it. */
  readonly secret?: string;
  /** `POSTRIDER_NEW_SECRET`: the text of the next master key. */
  readonly newSecret?: string;
  /** `DATABASE_URL`. */
  readonly databaseUrl?: string;
}

export function readDataTarget(env: Environment): DataTarget {
  return {
    dataFolder: readDataFolder(env),
    ...(env.POSTRIDER_SECRET && { secret: env.POSTRIDER_SECRET }),
    ...(env.POSTRIDER_NEW_SECRET && { newSecret: env.POSTRIDER_NEW_SECRET }),
    ...(env.DATABASE_URL && { databaseUrl: env.DATABASE_URL }),
  };
}

/** The environment of commands that talk to a server. */
export interface AdminTarget {
  readonly url?: string;
  readonly token?: string;
  readonly apiKey?: string;
  /** Absolute. May hold the `sandbox.json` of a server on this machine. */
  readonly dataFolder: string;
}

export function readAdminTarget(env: Environment): AdminTarget {
  return {
    ...(env.POSTRIDER_URL && { url: env.POSTRIDER_URL }),
    ...(env.POSTRIDER_ADMIN_TOKEN && { token: env.POSTRIDER_ADMIN_TOKEN }),
    ...(env.POSTRIDER_API_KEY && { apiKey: env.POSTRIDER_API_KEY }),
    dataFolder: readDataFolder(env),
  };
}

type Report = (problem: string) => void;

const VARIABLES = [
  ...["HOST", "PORT", "POSTRIDER_DATA", "POSTRIDER_SECRET", "DATABASE_URL", "LOG_LEVEL", "TRUSTED_PROXIES"],
  ...["TLS_CERT", "TLS_KEY", "BOUNCE_HOST", "BOUNCE_PORT", "METRICS_HOST", "METRICS_PORT"],
];

/** Reports values from a file with Windows line ends: a data folder or secret with an invisible character would be another one. */
function reportLineEnds(env: Environment, report: Report): void {
  for (const name of VARIABLES.filter((each) => env[each]?.endsWith("\r"))) {
    report(`${name}: ends in a carriage return: save the file it comes from with Unix line ends (LF)`);
  }
}

/** An IPv6 address may be written in brackets, as in a URL. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

function readBounce(env: Environment, report: Report): Config["bounce"] {
  return {
    host: bare(env.BOUNCE_HOST || "127.0.0.1"),
    port: readPort("BOUNCE_PORT", env.BOUNCE_PORT ?? "", report),
  };
}

/** Refuses a port that the process listens on for something else, whichever the addresses. */
function readMetrics(env: Environment, report: Report): Config["metrics"] {
  const port = readPort("METRICS_PORT", env.METRICS_PORT ?? "", report);
  const others = { PORT: env.PORT || "8080", BOUNCE_PORT: env.BOUNCE_PORT };
  for (const [name, text] of Object.entries(others)) {
    if (port > 0 && text && Number(text) === port)
      report(
        `METRICS_PORT: ${port} is ${name} already; /healthz, /readyz and /metrics need a port of their own`,
      );
  }
  return { host: bare(env.METRICS_HOST || env.HOST || "127.0.0.1"), port };
}

function readPort(name: string, text: string, report: Report): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    report(`${name}: expected a number from 0 to 65535, got "${text}"`);
  return port;
}

function readSecret(text: string, report: Report): string {
  if (text.length < MIN_KEY_LENGTH)
    report(
      `POSTRIDER_SECRET: expected at least ${MIN_KEY_LENGTH} characters; \`openssl rand -hex 32\` makes a good one`,
    );
  return text;
}

/** Requires a master key to be given: none is generated for a database whose processes must all have the same. */
function readDatabaseUrl(env: Environment, options: ServeOptions, report: Report): string {
  const url = env.DATABASE_URL ?? "";
  try {
    readHosts(url);
  } catch (error) {
    report(`DATABASE_URL: ${errorText(error)}`);
  }
  if (!env.POSTRIDER_SECRET && !existsSync(join(readDataFolder(env), MASTER_KEY_FILE))) {
    report("POSTRIDER_SECRET: required with DATABASE_URL, the same for every process on that database");
  }
  if (options.storeThread) report("--store-thread: writes to SQLite, and DATABASE_URL names PostgreSQL");
  if (options.listeners !== undefined && options.listeners !== "1") {
    report("--listeners: of SQLite only; on PostgreSQL start more processes");
  }
  return url;
}

function readLogLevel(text: string | undefined, report: Report): LogLevel {
  const level = LOG_LEVELS.find((each) => each === (text || "info"));
  if (!level) report(`LOG_LEVEL: expected one of ${LOG_LEVELS.join(", ")}, got "${text}"`);
  return level ?? "info";
}

function readProxies(text: string | undefined, report: Report): readonly Cidr[] {
  const entries = (text ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  return entries.flatMap((entry) => {
    try {
      // Written in full only: the library takes `172.16/12` for 172.0.0.16/12, which is somebody else's network.
      if (isIP(entry.replace(/\/.*/, "")) === 0) throw new Error("not an address");
      return [ipaddr.parseCIDR(entry.includes("/") ? entry : `${entry}/${entry.includes(":") ? 128 : 32}`)];
    } catch {
      report(`TRUSTED_PROXIES: expected addresses or CIDR ranges separated by commas, got "${entry}"`);
      return [];
    }
  });
}

const MAX_LISTENERS = 16;

function readListeners({ listeners = "1", storeThread }: ServeOptions, report: Report): number {
  const count = Number(listeners);
  if (!/^\d{1,2}$/.test(listeners) || count < 1 || count > MAX_LISTENERS) {
    report(`--listeners: expected a number from 1 to ${MAX_LISTENERS}, got "${listeners}"`);
  }
  if (count > 1 && storeThread) report("--listeners and --store-thread: each writes its own way; choose one");
  return count;
}

function readStoreThread({ storeThread }: ServeOptions, listeners: number): Config["storeThread"] {
  if (storeThread !== undefined) return storeThread ? "always" : "never";
  return listeners > 1 ? "never" : "on a slow disk";
}

function readSharesPort(env: Environment, { sharePort = false }: ServeOptions, report: Report): boolean {
  if (sharePort && !env.DATABASE_URL) {
    report(
      "--share-port: of processes on one PostgreSQL, and DATABASE_URL is not set; --listeners does it for SQLite",
    );
  }
  return sharePort;
}

function readRoles(text: string | undefined, report: Report): ReadonlySet<Role> {
  if (text === undefined) return new Set(ROLES);
  const names = text
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  const unknown = names.filter((name) => !ROLES.some((role) => role === name));
  if (names.length === 0 || unknown.length > 0) {
    report(
      `--roles: expected some of ${ROLES.join(", ")}${unknown.length > 0 ? `, got "${unknown.join(", ")}"` : ""}`,
    );
  }
  return new Set(ROLES.filter((role) => names.includes(role)));
}
