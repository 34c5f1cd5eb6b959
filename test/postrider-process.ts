/** The service as an operator runs it: a process of its own, with its own data folder, on a free port. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databaseOf, forgetDatabase, placeOnPostgres } from "./both-stores.ts";
import { builtPrograms } from "./built-programs.ts";
import { folderUntilTheEnd } from "./temp-folder.ts";

export interface Sandbox {
  readonly base_url: string;
  readonly account_id: string;
  readonly api_key: string;
  readonly push_app_id: string;
  readonly admin_token: string;
  readonly console_url: string;
  readonly console_password: string;
}

export interface PostriderProcess {
  readonly url: string;
  readonly dataFolder: string;
  readonly sandbox: Sandbox;
  /** What it has printed so far. */
  output(): string;
  /** Resolves when a line of its output matches; rejects when its output has ended without one. */
  line(pattern: RegExp): Promise<string>;
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code; `null` if a signal ended it. */
  readonly exited: Promise<number | null>;
}

export interface StartOptions {
  readonly dataFolder?: string;
  /** The URL of the PostgreSQL database to use; SQLite by default. */
  readonly databaseUrl?: string;
  /** The sandbox that the first process on that database made. */
  readonly sandbox?: Sandbox;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Instead of `serve`. */
  readonly command?: string;
  readonly main?: string;
  /** A module that runs in the process before `main`, to change its clock for example. */
  readonly preload?: string;
  /** A single binary to run instead of Bun and `main`. */
  readonly binary?: string;
  /** A shell command that runs first, for limits that the process inherits. */
  readonly before?: string;
}

/** Starts `postrider serve` (or another program that says "ready" alike) and resolves when it says that it is ready. Throws with its output when it exits instead. */
export async function startPostrider(options: StartOptions = {}): Promise<PostriderProcess> {
  const given = options.dataFolder ?? folderUntilTheEnd("postrider-");
  const databaseUrl = options.databaseUrl ?? (await databaseOf(given));
  const where = { dataFolder: given, ...(databaseUrl !== undefined && { databaseUrl }) };
  const { dataFolder, output, child, exited } = spawn({ ...options, ...where });
  const gone = exited.then((code) => {
    throw new Error(`the service ended with ${code}:\n${output.text()}`);
  });
  gone.catch(() => {});
  const ready = await output.line(/"msg":"ready"/).catch(() => gone);
  const { url } = JSON.parse(ready) as { url: string };
  return {
    url,
    dataFolder,
    sandbox:
      options.sandbox ?? (JSON.parse(readFileSync(join(dataFolder, "sandbox.json"), "utf8")) as Sandbox),
    output: output.text,
    line: output.line,
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    exited,
  };
}

/** Runs a `postrider serve` that is expected to end by itself; resolves with its exit code and output. */
export async function runPostrider(options: StartOptions): Promise<{ code: number | null; output: string }> {
  const databaseUrl =
    options.databaseUrl ?? (options.dataFolder && (await databaseOf(options.dataFolder))) ?? undefined;
  const { output, exited } = spawn({ ...options, ...(databaseUrl && { databaseUrl }) });
  const code = await exited;
  return { code, output: output.text() };
}

/** Starts another command than `serve`, one that goes on until it is stopped. */
export function startCommand(
  options: StartOptions & { readonly command: string },
): Pick<PostriderProcess, "output" | "line" | "kill" | "exited"> {
  const { output, child, exited } = spawn(options);
  return { output: output.text, line: output.line, kill: (signal) => child.kill(signal), exited };
}

function spawn(options: StartOptions) {
  const dataFolder = options.dataFolder ?? folderUntilTheEnd("postrider-");
  const command = [
    ...(options.binary
      ? [options.binary]
      : [
          process.execPath,
          ...(options.preload ? ["--preload", options.preload] : []),
          options.main ?? join(builtPrograms(), "main.ts"),
        ]),
    options.command ?? "serve",
    ...(options.args ?? []),
  ];
  const wrapped = options.before ? ["sh", "-c", `${options.before}; exec "$@"`, "sh", ...command] : command;
  const child = Bun.spawn(wrapped, {
    ...(options.binary && { cwd: dataFolder }),
    env: {
      PATH: process.env.PATH ?? "",
      HOME: dataFolder,
      POSTRIDER_DATA: dataFolder,
      PORT: "0",
      TMPDIR: sockets(),
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: transpiled(),
      ...onPostgres(options.databaseUrl),
      ...options.env,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = collect(child.stdout, child.stderr);
  /** Waits for the end of the output too, which may still be in the pipe when the process has ended. */
  const exited = Promise.all([child.exited, output.ended]).then(([code]) => (child.signalCode ? null : code));
  return { dataFolder, child, output, exited };
}

let temporary: string | undefined;

/** Where services with listeners have their sockets: those that are killed leave them behind. */
function sockets(): string {
  temporary ??= folderUntilTheEnd("postrider-sockets-");
  return temporary;
}

let cache: string | undefined;

/** Bun's transpiler cache, shared by all processes: it is in HOME otherwise, which each process has for itself. */
function transpiled(): string {
  cache ??= folderUntilTheEnd("postrider-transpiled-");
  return cache;
}

/** The master key, for processes without a key file. */
export const SHARED_SECRET = "shared by all of its processes";

/** The environment of processes that share a database. */
export function onPostgres(url: string | undefined): Readonly<Record<string, string>> {
  return url === undefined ? {} : { DATABASE_URL: url, POSTRIDER_SECRET: SHARED_SECRET };
}

/** A new data folder, and how to remove it. `store`: where tests of both stores run at once. */
export function makeDataFolder(store?: "sqlite" | "postgres"): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "postrider-"));
  if (store === "postgres") placeOnPostgres(path);
  const remove = () => {
    forgetDatabase(path);
    rmSync(path, { recursive: true, force: true });
  };
  return { path, remove };
}

function collect(...streams: ReadableStream<Uint8Array>[]) {
  let text = "";
  const waiting = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      for (const look of waiting) look();
    }
  };
  const ended = Promise.all(streams.map(read));
  const line = (pattern: RegExp) => {
    const said = new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = text
          .split("\n")
          .slice(0, -1)
          .find((each) => pattern.test(each));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`it ended without saying ${pattern}:\n${text}`)));
    });
    // Who waits for something else as well may look at this later, or never.
    said.catch(() => {});
    return said;
  };
  return { text: () => text, line, ended };
}
