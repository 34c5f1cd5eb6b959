import type { Clock } from "../../../core/clock.ts";
import type { AcceptRequest, AcceptResult, SavedAnswer } from "../../../core/messages/accept-request.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { type Intake, StoreUnavailable } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createGroupCommit } from "../database/group-commit.ts";
import { WAIT_FOR_STANDBY } from "../database/lost-commit.ts";
import type { Database, Transaction } from "../database/transactions.ts";
import type { Queues } from "../queue/queues.ts";
import { createUsedAccounts } from "../records/used-accounts.ts";
import { type Days, onDays } from "../retention/days.ts";
import { endsOf, insertAccepted } from "./accept-rows.ts";
import {
  type Entry,
  refuseOverLimit,
  refuseTooLate,
  refuseWithoutAccount,
  replayTaken,
  TooLate,
  toEntry,
} from "./accept-steps.ts";
import { type AskedKey, findAnswers, KeyHeld, keyName, NO_PATIENCE_MS } from "./idempotency-keys.ts";
import { probeKey } from "./probe-key.ts";

export interface AcceptParts {
  readonly clock: Clock;
  readonly days: Days;
  readonly queues: Queues;
}

/** `Intake.accept`: content, messages, jobs, key and answer, all or nothing; and `Intake.savedAnswer`. */
export function createAccept(
  db: Database,
  { clock, days, queues }: AcceptParts,
): Pick<Intake, "accept" | "savedAnswer"> & { readonly acceptAlone: Intake["accept"] } {
  const run = createRun(db, { clock, days, queues });
  const enter = createGroupCommit<Call, Outcome>({
    clock,
    atOnce: 3,
    run: withQuestions(db, run),
    isSlow: (error) => error instanceof KeyHeld,
    nameOf: (call) => {
      const key = isRequest(call) ? call.idempotency : call.asks;
      return key && keyName(key);
    },
    weightOf: (call) => (isRequest(call) ? call.messages.length : 1),
  }) as Enter;
  return {
    accept: enter,
    savedAnswer: async (asks) => (await enter({ asks })).answer ?? probeKey(db, asks),
    // On its own, so that no other request waits for the key that this one needs.
    async acceptAlone(request) {
      const [result] = await run([request], NO_PATIENCE_MS);
      if (!result) throw new StoreUnavailable("other transactions stood in the way");
      return result;
    },
  };
}

/** A call of `Intake.savedAnswer`. It waits in line with the requests, so that earlier ones with the same key have ended. */
interface Question {
  readonly asks: AskedKey;
}

interface Saved {
  readonly answer: SavedAnswer | undefined;
}

type Call = AcceptRequest | Question;
type Outcome = AcceptResult | Saved;

/** The line gives each call the outcome of its kind. */
interface Enter {
  (request: AcceptRequest): Promise<AcceptResult>;
  (question: Question): Promise<Saved>;
}

function isRequest(call: Call): call is AcceptRequest {
  return !("asks" in call);
}

/** Answers questions before it runs requests: if that fails, no request of the group has been stored. */
function withQuestions(db: Database, run: RunRequests) {
  return async (calls: readonly Call[]): Promise<readonly (Outcome | undefined)[]> => {
    if (calls.every(isRequest)) return run(calls);
    const asked = calls.flatMap((call) => (isRequest(call) ? [] : [call.asks]));
    const answers = await findSafeAnswers(db, asked);
    const saved = asked.map((_, index) => ({ answer: answers.get(index) }));
    const requests = calls.filter(isRequest);
    const results = requests.length > 0 ? [...(await run(requests))] : [];
    return calls.map((call) => (isRequest(call) ? results.shift() : saved.shift()));
  };
}

/** A repeated answer promises what the first one did, so a standby has to have it too. */
function findSafeAnswers(db: Database, asked: readonly AskedKey[]) {
  return db.transaction(async (session) => {
    const answers = await findAnswers(session, asked);
    if (answers.size > 0) await session.query(WAIT_FOR_STANDBY);
    return answers;
  });
}

/** Gives a result for each request, in order; `undefined`: none was found. */
type RunRequests = (
  requests: readonly AcceptRequest[],
  keyPatienceMs?: number,
) => Promise<readonly (AcceptResult | undefined)[]>;

/** Runs requests in one transaction. Each of its steps answers some of them, and leaves the others to the next. */
function createRun(db: Database, { clock, days, queues }: AcceptParts): RunRequests {
  const accounts = createUsedAccounts(db);

  const acceptAll: RunRequests = async (requests, keyPatienceMs) => {
    const prepare = async () => {
      await days.ensure(requests.flatMap(timesOf));
      const queueNumber = await queues.numbersOf(
        requests.flatMap((request) => request.messages.flatMap(queuesOf)),
      );
      return async (session: Transaction) => {
        const numbers = await accounts.use(session, new Set(requests.map(({ accountId }) => accountId)));
        const entries = requests.map((request) => toEntry(request, numbers));
        const known = refuseWithoutAccount(entries);
        const allowed = await refuseOverLimit(session, known);
        const fresh = await replayTaken(session, allowed, keyPatienceMs);
        refuseTooLate(fresh, clock.now());
        store(session, fresh, queueNumber);
        return { entries, numbers };
      };
    };
    const { entries, numbers } = await db.prepared(prepare, (session, { entries }) =>
      isAnyStored(session, entries),
    );
    accounts.keep(numbers);
    queues.notify(
      entries.flatMap(({ request, result }) => (result === ACCEPTED ? readyQueues(request) : [])),
    );
    return entries.map(({ result }) => result);
  };
  return (requests, keyPatienceMs) =>
    onDays(days, () => acceptAll(requests, keyPatienceMs)).catch((error) => unlessOfOne(requests, error));
}

/**
 * Answers a single request whose key another process holds, or that comes too late. Of several requests, it has to be found out which
 * one it is.
 */
function unlessOfOne(requests: readonly AcceptRequest[], error: unknown): readonly AcceptResult[] {
  if (error instanceof KeyHeld && requests.length === 1) return [{ kind: "in_progress" }];
  if (error instanceof TooLate && requests.length === 1) return [{ kind: "too_late" }];
  throw error;
}

function store(session: Transaction, entries: readonly Entry[], queueNumber: (name: string) => number): void {
  if (entries.length > 0) insertAccepted(session, entries, queueNumber);
  for (const entry of entries) entry.result = ACCEPTED;
}

const ACCEPTED: AcceptResult = { kind: "accepted" };

/** Whether the group is stored: one accepted request stands for all, and without one there was nothing to store. */
async function isAnyStored(session: Session, entries: readonly Entry[]): Promise<boolean> {
  const accepted = entries.find(({ result }) => result === ACCEPTED);
  if (!accepted) return true;
  const { first } = endsOf(accepted.request.messages);
  return (await session.query("SELECT 1 FROM messages WHERE id = $1", [first.id])).length > 0;
}

function timesOf({ messages }: AcceptRequest): number[] {
  const { first, last } = endsOf(messages);
  return (first === last ? [first] : [first, last]).map(({ id }) => {
    const time = uuidTime(id);
    if (time === undefined) throw new Error("a message's id says when it was made");
    return time;
  });
}

function queuesOf({ jobs }: AcceptRequest["messages"][number]): string[] {
  return jobs.map(({ queue }) => queue);
}

function readyQueues({ messages }: AcceptRequest): string[] {
  return messages.flatMap((message) => (message.dueAt === undefined ? queuesOf(message) : []));
}
