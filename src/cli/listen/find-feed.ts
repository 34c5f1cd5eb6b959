import { join } from "node:path";
import { createAdminClient } from "../admin/admin-client.ts";
import { readSandbox } from "../admin/find-server.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { AdminTarget } from "../config.ts";
import { SANDBOX_FILE } from "../data-folder/data-folder.ts";
import type { FeedServer } from "./feed-client.ts";

export interface FeedOptions {
  readonly url?: string;
  readonly apiKey?: string;
}

/** The server from the options, else the environment, else `sandbox.json`. Throws `CommandFailure` if none names it. */
export function findFeed(target: AdminTarget, options: FeedOptions): FeedServer {
  const path = join(target.dataFolder, SANDBOX_FILE);
  const given = { baseUrl: options.url ?? target.url, apiKey: options.apiKey ?? target.apiKey };
  const sandbox = given.baseUrl === undefined || given.apiKey === undefined ? readSandbox(path) : {};
  const baseUrl = given.baseUrl ?? sandbox.base_url;
  const apiKey = given.apiKey ?? sandbox.api_key;
  if (baseUrl === undefined)
    throw new CommandFailure(
      `no server is known: there is no ${path}. Name its data folder with POSTRIDER_DATA, or the service itself with --url and --api-key`,
    );
  if (apiKey === undefined)
    throw new CommandFailure(`no API key: give one with --api-key or POSTRIDER_API_KEY; ${path} holds none`);
  return { baseUrl, apiKey };
}

/**
 * The newest webhook secret of the sandbox account, so that the local program can check signatures as usual. `undefined` if the API
 * key is another account's, if the admin token is not at hand, or if the server does not give the secret.
 */
export async function findSecret(
  { dataFolder, token }: AdminTarget,
  server: FeedServer,
): Promise<string | undefined> {
  const sandbox = readSandbox(join(dataFolder, SANDBOX_FILE));
  const adminToken = token ?? sandbox.admin_token;
  if (sandbox.api_key !== server.apiKey || sandbox.account_id === undefined || adminToken === undefined) {
    return undefined;
  }
  const client = createAdminClient({ baseUrl: server.baseUrl, token: adminToken });
  const query = { account_id: sandbox.account_id };
  const answer = await client.request("GET", "webhooks/secret", { query }).catch(() => undefined);
  return (answer as { secrets?: readonly { secret: string }[] } | undefined)?.secrets?.[0]?.secret;
}
