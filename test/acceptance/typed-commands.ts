/** The command line of a data folder, as scripts and people type it. */
import { afterAll, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { Command } from "commander";
import { addAdminCommands } from "../../src/cli/admin/admin-commands.ts";
import { readAdminTarget } from "../../src/cli/config.ts";
import { builtPrograms } from "../built-programs.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { type Ran, ran } from "../ran.ts";

export interface TypedCommands {
  /** `npm run -s postrider -- …`, in a process of its own. */
  spawned(args: readonly string[], env?: Record<string, string>): Promise<Ran>;
  /** The same commands without the time a process takes to start. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Ran>;
  /** Resolves with what the command prints; throws if it fails. */
  text(...args: string[]): Promise<string>;
  /** The same with `--json`, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  json(...args: string[]): Promise<any>;
  /** A line of a shell in which `postrider` is the command line. */
  shell(line: string): Promise<Ran>;
  /** Resolves with what a command prints that reads this from standard input; throws if it fails. */
  fed(input: string, ...args: readonly string[]): Promise<string>;
}

export interface CommandsAtService extends TypedCommands {
  readonly dataFolder: string;
  service(): PostriderProcess;
}

/** To be called where tests are defined: a service for all of them, and the command line of its data folder. */
export function typeBesideService(): CommandsAtService {
  const folder = makeDataFolder();
  let service: PostriderProcess;

  beforeAll(async () => {
    service = await startPostrider({ dataFolder: folder.path });
  });

  afterAll(async () => {
    service.kill("SIGTERM");
    await service.exited;
    folder.remove();
  });

  return { ...typeInto(folder.path), dataFolder: folder.path, service: () => service };
}

export function typeInto(dataFolder: string): TypedCommands {
  const environment = (env: Record<string, string> = {}) => ({ POSTRIDER_DATA: dataFolder, ...env });
  const text = async (...args: string[]) => printedBy(await run(args, environment()));
  const main = join(builtPrograms(), "main.ts");
  const program = (args: readonly string[]) => [process.execPath, main, ...args];
  const defined = `postrider() { '${process.execPath}' '${main}' "$@"; }`;
  return {
    spawned: (args, env) => spawned(program(args), environment(env)),
    run: (args, env) => run(args, environment(env)),
    text,
    json: async (...args) => JSON.parse(await text(...args, "--json")),
    shell: (line) => spawned(["sh", "-c", `${defined}\n${line}`], environment()),
    fed: async (input, ...args) => printedBy(await spawned(program(args), environment(), input)),
  };
}

function printedBy({ code, out, err }: Ran): string {
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return out;
}

async function spawned(
  command: readonly string[],
  env: Record<string, string>,
  input?: string,
): Promise<Ran> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? "", ...env },
    ...(input !== undefined && { stdin: Buffer.from(input) }),
    stdout: "pipe",
    stderr: "pipe",
  });
  return ran(child);
}

class Ended extends Error {
  constructor(readonly code: number) {
    super();
  }
}

async function run(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const printed = { out: "", err: "" };
  const program = new Command("postrider");
  addAdminCommands(program, readAdminTarget(env), {
    stdout(more) {
      printed.out += more;
    },
    stderr(more) {
      printed.err += more;
    },
    exit: (code) => {
      throw new Ended(code);
    },
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return { code: 0, ...printed };
  } catch (error) {
    if (error instanceof Ended) return { code: error.code, ...printed };
    throw error;
  }
}
