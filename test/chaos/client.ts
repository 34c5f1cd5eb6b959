/** Sends requests to the service, and notes in the model what it answered. */
import { errorText } from "../../src/core/error-text.ts";
import type { PostriderProcess } from "../postrider-process.ts";
import { watchProcess } from "../process-watch.ts";
import type { Accepted, Client, FeedEvent, Model, Request, Shown } from "./model.ts";
import { FINAL, pathOf } from "./model.ts";

/** How long a client waits for an answer. */
const TIME_LIMIT_MS = 8_000;

/** Statuses after which a client repeats the request later. */
const RETRIED: ReadonlySet<number> = new Set([409, 429, 503]);

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

type Service = Pick<PostriderProcess, "url">;

interface Question {
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string | undefined;
}

/** Resolves with `undefined` if there was no answer. */
async function ask(
  service: Service,
  account: Pick<Client, "apiKey">,
  question: Question,
): Promise<Answer | undefined> {
  const answer = await askOrSayWhy(service, account, question);
  return typeof answer === "string" ? undefined : answer;
}

/** Resolves with words that say why if there was no answer. */
async function askOrSayWhy(
  { url }: Service,
  account: Pick<Client, "apiKey">,
  { path, body, key }: Question,
): Promise<Answer | string> {
  const startedMs = performance.now();
  try {
    const response = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        Authorization: `Bearer ${account.apiKey}`,
        "Content-Type": "application/json",
        ...(key !== undefined && { "Idempotency-Key": key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } catch (error) {
    const tookMs = Math.round(performance.now() - startedMs);
    return `after ${tookMs} ms ${errorText(error)}`;
  }
}

/** What requests need of the model of their run. */
type Notes = Pick<Model, "channel" | "canceled" | "toldFinal" | "problems">;

/** Sends a request, for the first time or again. */
export async function send(model: Notes, service: Service, asked: Request): Promise<void> {
  const { account, body, key } = asked;
  asked.tries++;
  const before = asked.answer;
  const answer = await ask(service, account, { path: pathOf(model), body, key });
  if (!answer || RETRIED.has(answer.status)) {
    asked.unanswered++;
    // Once a request with a key was accepted, repeats get the same answer.
    if (answer?.status === 409 && before)
      addProblem(model, asked, `409 after it was accepted: ${answer.text}`);
    return;
  }
  // A `schedule_at` that has passed meanwhile may be refused, but not if the request was accepted before.
  asked.isRefused ||= answer.status === 400 && !asked.answer && answer.text.includes("must be in the future");
  if (asked.isRefused && answer.status === 400) return;
  if (answer.status !== 202) return addProblem(model, asked, `answered ${answer.status} ${answer.text}`);
  const json = JSON.parse(answer.text) as Accepted | { readonly messages: readonly Accepted[] };
  const accepted = "messages" in json ? json.messages : [json];
  const isReplay = answer.headers.get("idempotent-replayed") === "true";
  if (before && !isReplay) addProblem(model, asked, "a repeat was not answered as one");
  const known = asked.answer;
  asked.answer ??= accepted;
  if (known && idsOf(known) !== idsOf(accepted))
    addProblem(model, asked, `two answers: ${idsOf(known)}, then ${idsOf(accepted)}`);
}

function idsOf(accepted: readonly Accepted[]): string {
  return accepted.map(({ message_id }) => message_id).join();
}

function addProblem(model: Notes, asked: Request, words: string): void {
  model.problems.push(`request ${asked.index} (key ${asked.key ?? "none"}): ${words}`);
}

export async function cancel(
  model: Notes,
  service: Service,
  { account, message_id }: { readonly account: Client; readonly message_id: string },
): Promise<void> {
  const path = `${pathOf(model)}/${message_id}/cancel`;
  const answer = await ask(service, account, { path, body: {} });
  if (answer?.status === 200) model.canceled.push({ messageId: message_id, atMs: Date.now() });
  else if (answer?.status === 404)
    model.problems.push(`${message_id} was accepted, and cannot be canceled: 404`);
}

/** Resolves with the status that it was told; `undefined` if there was no answer. */
export async function lookUp(
  model: Notes,
  service: Service,
  { account, message_id }: { readonly account: Client; readonly message_id: string },
): Promise<string | undefined> {
  const told = model.toldFinal.get(message_id);
  const answer = await ask(service, account, { path: `${pathOf(model)}/${message_id}` });
  if (!answer || answer.status === 503) return undefined;
  if (answer.status !== 200) {
    model.problems.push(`${message_id} was accepted, and is answered with ${answer.status} ${answer.text}`);
    return undefined;
  }
  const { status } = JSON.parse(answer.text) as Shown;
  const hasBounced = told === "delivered" && status === "bounced";
  if (told !== undefined && told !== status && !hasBounced)
    model.problems.push(`${message_id} was ${told}, and is ${status}`);
  if (FINAL.has(status)) model.toldFinal.set(message_id, status);
  return status;
}

/** Looks a message up that is too old to be found. */
export async function lookUpInVain(
  model: Notes,
  service: Service,
  { account, message_id }: { readonly account: Client; readonly message_id: string },
): Promise<void> {
  const answer = await ask(service, account, { path: `${pathOf(model)}/${message_id}` });
  if (answer && answer.status !== 404 && answer.status !== 503)
    model.problems.push(`${message_id} is too old, and is answered with ${answer.status} ${answer.text}`);
}

/** Reads the event feed from a cursor to its end, or until a request fails. Resolves with the new cursor. */
export async function readFeed(
  service: Service,
  account: Pick<Client, "apiKey">,
  { after, events }: { readonly after: string | undefined; readonly events: FeedEvent[] },
): Promise<string | undefined> {
  let cursor = after;
  for (;;) {
    const query = cursor === undefined ? "" : `&after=${cursor}`;
    const answer = await ask(service, account, { path: `/v1/events?limit=50${query}` });
    if (answer?.status !== 200) return cursor;
    const page = JSON.parse(answer.text) as { data: FeedEvent[]; next: string };
    events.push(...page.data);
    cursor = page.next;
    if (page.data.length === 0) return cursor;
  }
}

/** All messages of an account, or those with one status. */
export async function listAll<Message extends Shown>(
  model: Pick<Model, "channel">,
  service: Service & Pick<PostriderProcess, "pid" | "output">,
  { account, status }: { readonly account: Pick<Client, "apiKey">; readonly status?: string },
): Promise<readonly Message[]> {
  const found: Message[] = [];
  const filter = status === undefined ? "" : `&status=${status}`;
  for (let cursor = ""; ; ) {
    const path = `${pathOf(model)}?limit=200${filter}${cursor}`;
    const watch = watchProcess(service.pid);
    const answer = await askOrSayWhy(service, account, { path });
    if (typeof answer === "string")
      throw new Error(
        `the list is not answered: ${answer}; ${watch.say()}. Its last lines:\n${lastLines(service)}`,
      );
    if (answer.status !== 200) throw new Error(`the list is answered with ${answer.status} ${answer.text}`);
    const page = JSON.parse(answer.text) as { data: Message[]; next?: string };
    found.push(...page.data);
    if (page.next === undefined) return found;
    cursor = `&cursor=${page.next}`;
  }
}

/** Of what a process logged. */
const LINES_SHOWN = 20;

function lastLines({ output }: Pick<PostriderProcess, "output">): string {
  return output().trimEnd().split("\n").slice(-LINES_SHOWN).join("\n");
}
