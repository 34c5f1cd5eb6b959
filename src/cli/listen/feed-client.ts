import { refuseRedirect, urlOn } from "../admin/admin-client.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { pastProxy } from "../network/past-proxy.ts";

/** An item of the feed: the body of a webhook, and its id. */
export interface FeedItem {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FeedPage {
  readonly data: readonly FeedItem[];
  readonly next: string;
}

export interface FeedServer {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const KEY_REFUSED =
  "the server refused the API key: give one of its accounts with --api-key or POSTRIDER_API_KEY; `keys create` makes one";

/** How long the server is asked to wait for events, and how much longer to wait for its answer. Seconds. */
const WAIT_SECONDS = 30;
const GRACE_SECONDS = 10;

const LIMIT = 100;

/** Reads the page after a cursor. Rejects with `CommandFailure` if asking again would not help, with other errors if it may. */
export async function readFeed(
  { baseUrl, apiKey }: FeedServer,
  after: string,
  signal: AbortSignal,
): Promise<FeedPage> {
  // Does not wait for "now": only with a cursor is nothing missed between two requests.
  const wait = after === "now" ? 0 : WAIT_SECONDS;
  const query = new URLSearchParams({ after, limit: `${LIMIT}`, wait: `${wait}` });
  const url = urlOn(baseUrl, `/v1/events?${query}`);
  if (!/^[\x21-\x7e]*$/.test(apiKey))
    throw new CommandFailure("this is no API key: it has blanks or line ends");
  const timeLimit = AbortSignal.timeout((WAIT_SECONDS + GRACE_SECONDS) * 1_000);
  const response = await fetch(url, {
    ...pastProxy(url),
    headers: { Authorization: `Bearer ${apiKey}`, Accept: "application/json" },
    redirect: "manual",
    signal: AbortSignal.any([signal, timeLimit]),
  });
  refuseRedirect(baseUrl, response);
  if (response.ok) return (await response.json()) as FeedPage;
  if (response.status === 401) throw new CommandFailure(KEY_REFUSED);
  if (response.status === 400)
    throw new CommandFailure(
      `"${after}" is not a cursor of this feed: give one that \`listen\` ended with, or now`,
    );
  if (response.status === 404)
    throw new CommandFailure(`${baseUrl} has no event feed: is Postrider there, with the role api?`);
  throw new Error(`the server answered ${response.status}`);
}
