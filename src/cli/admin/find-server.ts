import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../commands/command-failure.ts";
import type { AdminTarget } from "../config.ts";
import { SANDBOX_FILE } from "../data-folder/data-folder.ts";
import type { Sandbox } from "../data-folder/first-start.ts";
import { type AdminServer, WHERE_TOKENS_ARE } from "./admin-client.ts";

export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
}

/** Where the server is: by the options, else the environment, else `sandbox.json`. Throws `CommandFailure` if none tells. */
export function findServer(target: AdminTarget, options: ServerOptions): AdminServer {
  const baseUrl = options.url ?? target.url;
  const token = options.token ?? target.token;
  if (baseUrl !== undefined && token !== undefined) return { baseUrl, token };
  const path = join(target.dataFolder, SANDBOX_FILE);
  const sandbox = readSandbox(path);
  const found = { baseUrl: baseUrl ?? sandbox.base_url, token: token ?? sandbox.admin_token };
  if (found.baseUrl === undefined) throw new CommandFailure(noServer(path));
  if (found.token === undefined) throw new CommandFailure(`no admin token: ${WHERE_TOKENS_ARE}`);
  const server = { baseUrl: found.baseUrl, token: found.token };
  return baseUrl === undefined ? { ...server, namedBy: path } : server;
}

function noServer(path: string): string {
  return (
    `no server is known: there is no ${path}. Start the service (\`npm start\` or \`postrider serve\`), ` +
    "name its data folder with POSTRIDER_DATA, or the service itself with --url and --token"
  );
}

/** The content of `sandbox.json`; empty if there is no such file. Throws `CommandFailure` if it cannot be read. */
export function readSandbox(path: string): Partial<Sandbox> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return {};
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    return (JSON.parse(text) ?? {}) as Partial<Sandbox>;
  } catch {
    throw new CommandFailure(`${path} is damaged: it holds no JSON`);
  }
}
