/**
 * The steps that answer the requests of a transaction which are not to be stored: refused ones, and repeats. Each returns those that it
 * leaves to the next.
 */
import type { AcceptRequest, AcceptResult, SavedAnswer } from "../../../core/messages/accept-request.ts";
import type { Session } from "../database/driver.ts";
import type { Transaction } from "../database/transactions.ts";
import type { Taken } from "./accept-rows.ts";
import { findAnswers, takeKeys } from "./idempotency-keys.ts";
import { loadUsage, lockUsage, type RequestUsage } from "./sms-usage.ts";

/** A request in its transaction. */
export interface Entry extends Taken {
  /** `undefined` until a step has found it. */
  result: AcceptResult | undefined;
}

export function toEntry(request: AcceptRequest, numbers: ReadonlyMap<string, number>): Entry {
  return { request, account: numbers.get(request.accountId) ?? NOBODY, result: undefined };
}

/** The number of an account that does not exist. */
const NOBODY = -1;

/** Refuses even a repeat whose answer is saved: an account is only deleted once the API key of the request is revoked. */
export function refuseWithoutAccount(entries: readonly Entry[]): readonly Entry[] {
  for (const entry of entries) if (entry.account === NOBODY) entry.result = { kind: "no_account" };
  return entries.filter(({ account }) => account !== NOBODY);
}

/** Checks limits before keys are taken, since a refused request stores nothing. A repeat is answered without a check. */
export async function refuseOverLimit(
  session: Transaction,
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  const limited = entries.flatMap((entry) => {
    const usage = usageOf(entry);
    return usage ? [{ entry, usage }] : [];
  });
  if (limited.length === 0) return entries;
  const usages = limited.map(({ usage }) => usage);
  lockUsage(
    session,
    usages.map(({ account }) => account),
  );
  const [saved, counts] = await Promise.all([
    savedAnswers(
      session,
      limited.map(({ entry }) => entry),
    ),
    loadUsage(session, usages),
  ]);
  for (const { entry, usage } of limited) {
    const answer = saved.get(entry);
    const refusal = answer ? undefined : counts.exceeded(usage);
    if (answer) entry.result = { kind: "replay", answer };
    else if (refusal) entry.result = { kind: "over_limit", refusal };
    else counts.count(usage);
  }
  counts.write(session);
  return entries.filter(({ result }) => !result);
}

function usageOf({ request: { limited, messages }, account }: Taken): RequestUsage | undefined {
  return limited && { account, limited, recipients: messages.map(({ recipient }) => recipient) };
}

/**
 * Takes the keys of requests. Those whose key was taken before get the answer saved under it, read by a later statement;
 * none, if it is gone by then.
 */
export async function replayTaken(
  session: Session,
  entries: readonly Entry[],
  keyPatienceMs?: number,
): Promise<readonly Entry[]> {
  const keyed = entries.flatMap(withKey);
  if (keyed.length === 0) return entries;
  const keys = keyed.map(({ key }) => key);
  const lost = await takeKeys(session, keys, keyPatienceMs);
  const repeats = keyed.flatMap(({ entry }, index) => (lost.has(index) ? [entry] : []));
  const saved = await savedAnswers(session, repeats);
  for (const entry of repeats) {
    const answer = saved.get(entry);
    entry.result = answer && { kind: "replay", answer };
  }
  const repeated = new Set(repeats);
  return entries.filter((entry) => !repeated.has(entry));
}

/**
 * Throws, so that nothing is stored, if a request has waited for so long that a repeat of it may have been refused by another
 * process, which found its key free. Asked once the key is taken: whoever asks for it from then on waits.
 */
export function refuseTooLate(entries: readonly Entry[], now: number): void {
  const isLate = ({ request }: Entry) =>
    (request.idempotency?.acceptBefore ?? Number.POSITIVE_INFINITY) <= now;
  if (entries.some(isLate)) throw new TooLate();
}

export class TooLate extends Error {}

/** The answers saved under the keys of requests. */
async function savedAnswers(
  session: Session,
  entries: readonly Entry[],
): Promise<ReadonlyMap<Entry, SavedAnswer>> {
  const keyed = entries.flatMap(withKey);
  const answers = await findAnswers(
    session,
    keyed.map(({ key }) => key),
  );
  return new Map(
    keyed.flatMap(({ entry }, index) => {
      const answer = answers.get(index);
      return answer ? [[entry, answer] as const] : [];
    }),
  );
}

function withKey(entry: Entry) {
  const { idempotency: key } = entry.request;
  return key ? [{ entry, key }] : [];
}
