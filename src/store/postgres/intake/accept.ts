import type { Clock } from "../../../core/clock.ts";
import type {
  AcceptRequest,
  AcceptResult,
  Idempotency,
  SavedAnswer,
} from "../../../core/messages/accept-request.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { type Intake, StoreUnavailable } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createGroupCommit } from "../database/group-commit.ts";
import { WAIT_FOR_STANDBY } from "../database/lost-commit.ts";
import type { Database } from "../database/transactions.ts";
import type { Queues } from "../queue/queues.ts";
import { createUsedAccounts } from "../records/used-accounts.ts";
import type { Days } from "../retention/days.ts";
import { endsOf, insertAccepted, type Taken } from "./accept-rows.ts";
import { findAnswers, KeyHeld, keyName, type NewKey, takeKeys } from "./idempotency-keys.ts";
import { countUsage, exceededLimit, lockUsage, type RequestUsage } from "./sms-usage.ts";

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
  const accounts = createUsedAccounts();

  const run = async (
    requests: readonly AcceptRequest[],
    keyPatienceMs?: number,
  ): Promise<readonly (AcceptResult | undefined)[]> => {
    await days.ensure(requests.flatMap(timesOf));
    const queueNumber = await queues.numbersOf(
      requests.flatMap((request) => request.messages.flatMap(queuesOf)),
    );
    const { results, numbers } = await db.transaction(
      async (session) => {
        const numbers = await accounts.use(session, new Set(requests.map(({ accountId }) => accountId)));
        const group = createGroup(requests, numbers);
        refuseWithoutAccount(group);
        await refuseOverLimit(session, group);
        await replayTaken(session, group, keyPatienceMs);
        await store(session, group, queueNumber);
        return { results: group.results, numbers };
      },
      (session, { results }) => isAnyStored(session, requests, results),
    );
    accounts.keep(numbers);
    queues.notify(
      requests.flatMap((request, index) => (results[index] === ACCEPTED ? readyQueues(request) : [])),
    );
    return results;
  };
  const enter = createGroupCommit<Call, Outcome>({
    clock,
    atOnce: 3,
    run: withQuestions(db, (requests) => run(requests).catch((error) => inProgress(requests, error))),
    isSlow: (error) => error instanceof KeyHeld,
    nameOf: (call) => ("asks" in call ? keyName(call.asks) : call.idempotency && keyName(call.idempotency)),
    weightOf: (call) => ("asks" in call ? 1 : call.messages.length),
  });
  return {
    accept: (request) => enter(request) as Promise<AcceptResult>,
    acceptAlone: alone((requests) => run(requests, NO_PATIENCE_MS)),
    savedAnswer: async (asks) => ((await enter({ asks })) as Saved).answer,
  };
}

/** Just long enough to take a free lock; 0 would mean without limit. */
const NO_PATIENCE_MS = 50;

/** Runs a request on its own, so that no other one waits for the key that it needs. */
function alone(run: RunRequests): Intake["accept"] {
  return async (request) => {
    const [result] = await run([request]).catch((error) => inProgress([request], error));
    if (!result) throw new StoreUnavailable("others stood in the way");
    return result;
  };
}

/** `Intake.savedAnswer`: waits in line with the requests, so that earlier ones with the same key have ended. */
interface Question {
  readonly asks: Pick<Idempotency, "scope" | "key" | "now">;
}

interface Saved {
  readonly answer: SavedAnswer | undefined;
}

type Call = AcceptRequest | Question;
type Outcome = AcceptResult | Saved;

function isRequest(call: Call): call is AcceptRequest {
  return !("asks" in call);
}

type RunRequests = (requests: readonly AcceptRequest[]) => Promise<readonly (AcceptResult | undefined)[]>;

/** Answers questions before it runs requests: if that fails, no request of the group has been stored. */
function withQuestions(db: Database, run: RunRequests) {
  return async (calls: readonly Call[]): Promise<readonly (Outcome | undefined)[]> => {
    if (calls.every(isRequest)) return run(calls);
    const requests = calls.filter(isRequest);
    const asked = calls.flatMap((call) => ("asks" in call ? [call.asks] : []));
    const answers = await findSafeAnswers(db, asked);
    const results = requests.length > 0 ? await run(requests) : [];
    let question = 0;
    let request = 0;
    return calls.map((call) => ("asks" in call ? { answer: answers.get(question++) } : results[request++]));
  };
}

/** An answer that is given again promises what it did at first: so it is one that a standby has too. */
function findSafeAnswers(db: Database, asked: readonly Question["asks"][]) {
  return db.transaction(async (session) => {
    const answers = await findAnswers(session, asked);
    if (answers.size > 0) await session.query(WAIT_FOR_STANDBY);
    return answers;
  });
}

/** Answers a single request whose key another process holds. Of several requests, the one has to be found first. */
function inProgress(requests: readonly AcceptRequest[], error: unknown): readonly AcceptResult[] {
  if (error instanceof KeyHeld && requests.length === 1) return [{ kind: "in_progress" }];
  throw error;
}

const ACCEPTED: AcceptResult = { kind: "accepted" };

/** Whether the group is stored: one accepted request stands for all, and without one there was nothing to store. */
async function isAnyStored(
  session: Session,
  requests: readonly AcceptRequest[],
  results: readonly (AcceptResult | undefined)[],
): Promise<boolean> {
  const accepted = requests.find((_, index) => results[index] === ACCEPTED);
  if (!accepted) return true;
  const { first } = endsOf(accepted.messages);
  return (await session.query("SELECT 1 FROM messages WHERE id = $1", [first.id])).length > 0;
}

/** The requests of a transaction, and the results that its steps find. */
interface Group {
  readonly requests: readonly Taken[];
  /** By index of the request. */
  readonly results: (AcceptResult | undefined)[];
  /** Indexes of requests that are answered: later steps skip them. */
  readonly answered: Set<number>;
}

function createGroup(requests: readonly AcceptRequest[], numbers: ReadonlyMap<string, number>): Group {
  const taken = requests.map((request) => ({
    request,
    account: numbers.get(request.accountId) ?? NOBODY,
  }));
  return { requests: taken, results: requests.map(() => undefined), answered: new Set() };
}

/** The number of an account that does not exist. */
const NOBODY = -1;

function answer(group: Group, index: number, result: AcceptResult | undefined): void {
  group.results[index] = result;
  group.answered.add(index);
}

/** Also a request whose key is taken: the API key that it came with went before the account. */
function refuseWithoutAccount(group: Group): void {
  group.requests.forEach(({ account }, index) => {
    if (account === NOBODY) answer(group, index, NO_ACCOUNT);
  });
}

const NO_ACCOUNT: AcceptResult = { kind: "no_account" };

/** Checks limits before keys are taken, since a refused request stores nothing. A repeat is answered without a check. */
async function refuseOverLimit(session: Session, group: Group): Promise<void> {
  const limited = group.requests.flatMap((taken, index) => {
    const usage = group.answered.has(index) ? undefined : usageOf(taken);
    return usage ? [{ index, usage, key: taken.request.idempotency }] : [];
  });
  if (limited.length === 0) return;
  await lockUsage(
    session,
    limited.map(({ usage }) => usage.account),
  );
  for (const { index, usage, key } of limited) {
    const saved = key && (await findAnswers(session, [key])).get(0);
    const refusal = saved ? undefined : await exceededLimit(session, usage);
    if (saved) answer(group, index, { kind: "replay", answer: saved });
    else if (refusal) answer(group, index, { kind: "over_limit", refusal });
    else await countUsage(session, usage);
  }
}

function usageOf({ request: { limited, messages }, account }: Taken): RequestUsage | undefined {
  return limited && { account, limited, recipients: messages.map(({ recipient }) => recipient) };
}

/** Takes the keys of requests. Those whose key was taken before get the answer saved under it, read by a later statement. */
async function replayTaken(session: Session, group: Group, keyPatienceMs?: number): Promise<void> {
  const keyed = group.requests.flatMap(({ request: { idempotency } }, index) =>
    idempotency && !group.answered.has(index) ? [{ index, key: idempotency as NewKey }] : [],
  );
  if (keyed.length === 0) return;
  const keys = keyed.map(({ key }) => key);
  const lost = await takeKeys(session, keys, keyPatienceMs);
  const others = keyed.filter((_, at) => lost.has(at));
  const answers = await findAnswers(
    session,
    others.map(({ key }) => key),
  );
  others.forEach(({ index }, at) => {
    const saved = answers.get(at);
    answer(group, index, saved && { kind: "replay", answer: saved });
  });
}

async function store(session: Session, group: Group, queueNumber: (name: string) => number): Promise<void> {
  const left = group.requests.filter((_, index) => !group.answered.has(index));
  if (left.length > 0) await insertAccepted(session, left, queueNumber);
  group.requests.forEach((_, index) => {
    if (!group.answered.has(index)) group.results[index] = ACCEPTED;
  });
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
