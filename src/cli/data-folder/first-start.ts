import { createHash } from "node:crypto";
import { join } from "node:path";
import { PUSH_PLATFORMS } from "../../core/records/accounts.ts";
import { apiKeyPrefix, makeApiKey } from "../../core/records/api-key.ts";
import { makeConsolePassword } from "../../core/records/console-password.ts";
import type { RandomBytes } from "../../core/uuid.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../config.ts";
import { SANDBOX_FILE } from "./data-folder.ts";

/** What a new user needs to send a first message: the content of `sandbox.json`. */
export interface Sandbox {
  readonly base_url: string;
  readonly account_id: string;
  readonly api_key: string;
  readonly push_app_id: string;
  readonly admin_token: string;
  readonly console_url: string;
  readonly console_password: string;
}

export interface FirstStartDeps {
  readonly store: Pick<Store, "access">;
  readonly ids: () => string;
  readonly randomBytes: RandomBytes;
  readonly now: number;
  readonly baseUrl: string;
  readonly dataFolder: string;
}

/**
 * On an empty database, makes the sandbox account with its key, push app and secrets, and writes `sandbox.json`
 * before the commit; otherwise changes nothing. Returns what was made.
 */
export async function firstStart(deps: FirstStartDeps): Promise<Sandbox | undefined> {
  const { ids, now, randomBytes } = deps;
  const sandbox: Sandbox = {
    base_url: deps.baseUrl,
    account_id: ids(),
    api_key: makeApiKey(randomBytes),
    push_app_id: ids(),
    admin_token: `pr_admin_${Buffer.from(randomBytes(30)).toString("base64url")}`,
    console_url: `${deps.baseUrl}/console`,
    console_password: makeConsolePassword(randomBytes),
  };
  const isFirst = await deps.store.access.bootstrap({
    account: { id: sandbox.account_id, name: "Sandbox", mode: "sandbox", createdAt: now },
    apiKey: {
      id: ids(),
      accountId: sandbox.account_id,
      name: "First key",
      prefix: apiKeyPrefix(sandbox.api_key),
      digest: sha256(sandbox.api_key),
      createdAt: now,
    },
    pushApp: {
      id: sandbox.push_app_id,
      accountId: sandbox.account_id,
      name: "Sandbox app",
      platforms: PUSH_PLATFORMS,
      createdAt: now,
    },
    webhookSecret: `whsec_${Buffer.from(randomBytes(24)).toString("base64")}`,
    adminTokenDigest: sha256(sandbox.admin_token),
    consolePasswordDigest: sha256(sandbox.console_password),
    announce: {
      path: join(deps.dataFolder, SANDBOX_FILE),
      text: `${JSON.stringify(sandbox, null, 2)}\n`,
    },
  });
  return isFirst ? sandbox : undefined;
}

/** What the first start prints: commands for a new user to copy, or which process answers them if this one lacks the role `api`. */
export function welcome(
  sandbox: Sandbox,
  { dataFolder, roles }: Pick<Config, "dataFolder" | "roles">,
): string {
  const path = join(dataFolder, SANDBOX_FILE);
  return roles.has("api") ? firstCommands(sandbox, path) : whoAnswers(sandbox, path);
}

function firstCommands(sandbox: Sandbox, path: string): string {
  const sms = JSON.stringify({
    to: "+919876543210",
    dlt_template_id: "1107160000000000001",
    variables: { "1": "123456" },
  });
  return `
Postrider has made a sandbox account; nothing sent from it leaves this machine. Send a first SMS:

  curl -s ${sandbox.base_url}/v1/sms/messages \\
    -H 'Authorization: Bearer ${sandbox.api_key}' \\
    -H 'Content-Type: application/json' \\
    -d '${sms}'

and look at it with the message_id of the answer:

  curl -s ${sandbox.base_url}/v1/sms/messages/MESSAGE_ID -H 'Authorization: Bearer ${sandbox.api_key}'

The keys, and the console's password, are in ${path} (readable by you only).
The web console: ${sandbox.console_url}  The interface: ${sandbox.base_url}/docs
`;
}

function whoAnswers(sandbox: Sandbox, path: string): string {
  return `
Postrider has made a sandbox account, ${sandbox.account_id}.
The keys, and the console's password, are in ${path} (readable by you only).

This process runs without the role api: it answers neither requests nor the web console. A process with that role is needed on
the same database; with SQLite, which has one process at a time, in place of this one. The file names the address of this
process: give commands that of the other with --url, or in POSTRIDER_URL.
`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
