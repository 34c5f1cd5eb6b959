import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import type { Clock } from "../../core/clock.ts";
import { UsageFailure } from "../commands/command-failure.ts";
import { needed } from "../commands/needed-options.ts";
import { orRefusal } from "../commands/or-refusal.ts";
import { toCell } from "../commands/table.ts";
import type { Terminal } from "../commands/terminal.ts";
import type { AdminTarget } from "../config.ts";
import type { FeedItem } from "./feed-client.ts";
import { type FeedOptions, findFeed, findSecret } from "./find-feed.ts";
import { followFeed } from "./follow-feed.ts";
import { forwardEvent } from "./forward-event.ts";

export interface Listening {
  readonly target: AdminTarget;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Aborts when the command is to end. */
  readonly stopped: () => AbortSignal;
}

interface ListenOptions extends FeedOptions {
  readonly forwardTo: string;
  readonly after: string;
  readonly secret?: string;
}

/** `listen`: for development on a machine that no webhook can reach. */
export function addListenCommand(program: Command, listening: Listening): void {
  program
    .command("listen")
    .description("follow the event feed, and forward each event to a local program as its webhook")
    .addOption(needed("--forward-to <url>", "for example http://localhost:3000/hook"))
    .option("--after <cursor>", "where to begin: a cursor, or now", "now")
    .option(
      "--secret <whsec>",
      "sign with this; else the sandbox account's, else a generated one, which is printed",
    )
    .option("--url <url>", "the server; else POSTRIDER_URL, else sandbox.json")
    .option("--api-key <key>", "else POSTRIDER_API_KEY, else sandbox.json")
    .action((options: ListenOptions) => orRefusal(listening.terminal, () => listen(listening, options)));
}

async function listen(
  { target, terminal, clock, stopped }: Listening,
  options: ListenOptions,
): Promise<void> {
  const url = readUrl(options.forwardTo);
  const givenSecret = readSecret(options.secret);
  const server = findFeed(target, options);
  const secret = givenSecret ?? (await findSecret(target, server)) ?? makeSecret();
  const say = (line: string) => terminal.stdout(`${toCell(line)}\n`);
  say(`signing with ${secret}`);
  const signal = stopped();
  const forwarding = { url, secret, clock, signal };
  const cursor = await followFeed({
    server,
    after: options.after,
    clock,
    signal,
    onConnected: () => say(`listening to ${server.baseUrl}, forwarding to ${url}`),
    onEvent: async (event) => say(lineOf(event, await forwardEvent(event, forwarding))),
    onTrouble: (problem, waitMs) =>
      say(`the feed of ${server.baseUrl} cannot be read (${problem}); again in ${waitMs / 1_000} s`),
  });
  say(cursor === "now" ? "stopped" : `stopped; to go on from here: --after ${cursor}`);
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.href;
  throw new UsageFailure(`"${text}" is not a URL to forward to; one looks like http://localhost:3000/hook`);
}

function readSecret(text: string | undefined): string | undefined {
  if (text === undefined || /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(text)) return text;
  throw new UsageFailure("a secret is whsec_ and base64, as `webhooks secret` prints it");
}

function makeSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/** One line for an event, without the recipient. */
function lineOf({ timestamp, type, data }: FeedItem, result: string): string {
  const message = data.message_id === undefined ? "" : ` ${String(data.message_id)}`;
  return `${timestamp} ${type}${message} -> ${result}`;
}
