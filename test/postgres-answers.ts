/** Waits for PostgreSQL's answers to this process, so that a held clock stands still meanwhile. */
import { Client } from "pg";

/** After so many turns without a statement, none is expected any more. */
const QUIET_TURNS = 4;

/** A statement that takes longer waits for something else than the server: for time to pass, perhaps. */
const LONGEST_MS = 500;

/** Resolves once all statements on the database are answered, those that follow from the answers included. */
export async function answersOfPostgres(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  const tooLate = performance.now() + LONGEST_MS;
  for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < tooLate; quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!unanswered.get(database)) continue;
    quiet = -1;
    await nextAnswer(tooLate - performance.now());
  }
}

/** By database: one that another test uses is nothing to wait for. */
const unanswered = new Map<string, number>();
const waiting = new Set<() => void>();

function nextAnswer(withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(go, Math.max(1, withinMs));
    function go() {
      clearTimeout(timer);
      waiting.delete(go);
      resolve();
    }
    waiting.add(go);
  });
}

type Call = (...args: unknown[]) => unknown;

function counted(call: Call): Call {
  return function (this: { readonly database: string }, ...args) {
    const { database } = this;
    const hear = args.at(-1);
    count(database, 1);
    const answered = () => {
      count(database, -1);
      for (const go of [...waiting]) go();
    };
    if (typeof hear === "function") {
      const hearing = (...answer: unknown[]) => {
        answered();
        hear(...answer);
      };
      return call.apply(this, [...args.slice(0, -1), hearing]);
    }
    const answer = call.apply(this, args);
    void Promise.resolve(answer).then(answered, answered);
    return answer;
  };
}

function count(database: string, change: number): void {
  const left = (unanswered.get(database) ?? 0) + change;
  if (left > 0) unanswered.set(database, left);
  else unanswered.delete(database);
}

const methods = Client.prototype as unknown as Record<"connect" | "query", Call>;
methods.connect = counted(methods.connect);
methods.query = counted(methods.query);
