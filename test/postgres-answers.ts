/** What this process has asked of PostgreSQL and has not been told yet: a held clock stands still meanwhile. */
import { Client } from "pg";

/** When nothing was asked for so many turns, nothing more is going to be. */
const QUIET_TURNS = 4;

/** Beyond it a statement waits for something else than the server: for time to pass, perhaps. */
const LONGEST_MS = 500;

/** Resolves once all that was asked is answered, and what was asked because of the answers too. */
export async function answersOfPostgres(): Promise<void> {
  const tooLate = performance.now() + LONGEST_MS;
  for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < tooLate; quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (unanswered === 0) continue;
    quiet = -1;
    await nextAnswer(tooLate - performance.now());
  }
}

let unanswered = 0;
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

function answered(): void {
  unanswered--;
  for (const go of [...waiting]) go();
}

type Call = (...args: unknown[]) => unknown;

function counted(call: Call): Call {
  return function (this: unknown, ...args) {
    const hear = args.at(-1);
    unanswered++;
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

const methods = Client.prototype as unknown as Record<"connect" | "query", Call>;
methods.connect = counted(methods.connect);
methods.query = counted(methods.query);
