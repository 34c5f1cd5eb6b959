/** The command line of a data folder, as scripts and people type it. */
import { expect } from "bun:test";
import { join } from "node:path";
import { Command } from "commander";
import { addAdminCommands } from "../../src/cli/admin/admin-commands.ts";
import { readAdminTarget } from "../../src/cli/config.ts";

const MAIN = join(import.meta.dir, "../../src/cli/main.ts");

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

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
}

export function typeInto(dataFolder: string): TypedCommands {
  const environment = (env: Record<string, string> = {}) => ({ POSTRIDER_DATA: dataFolder, ...env });
  const text = async (...args: string[]) => {
    const { code, out, err } = await run(args, environment());
    expect(err).toBe("");
    expect(code).toBe(0);
    return out;
  };
  return {
    spawned: (args, env) => spawned(args, environment(env)),
    run: (args, env) => run(args, environment(env)),
    text,
    json: async (...args) => JSON.parse(await text(...args, "--json")),
  };
}

async function spawned(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
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
