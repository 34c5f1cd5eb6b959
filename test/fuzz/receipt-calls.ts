/** What providers say later, by dice, and what is done about what they do not say. */
import type { Store } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { CONNECTORS, ERROR, IDS, partBy, receiptBy, segmentsOf } from "./provider-words.ts";

export async function receive(ground: Ground): Promise<unknown> {
  const receipts = Array.from({ length: ground.dice.between(1, 4) }, () => receiptBy(ground));
  return (await ask(ground, (store) => store.receipts.record(receipts)))[0];
}

/** For one segment, or for all at one moment, each by another connector. */
export async function answerLate(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const told = partBy(ground);
  if (!told) return false;
  const parts = segmentsOf(told.messageId);
  const all = [...Array(parts).keys()].map((part) => ({
    ...told,
    part,
    connectorId: dice.oneOf(CONNECTORS),
  }));
  for (const each of dice.chance(0.3) ? all : [told]) {
    const answer = { ...each, parts, providerMessageIds: [dice.oneOf(IDS)] };
    await ask(ground, (store) => store.receipts.recordLateAnswer(answer, clock.now));
  }
  return true;
}

/** Of one segment, or of all; or of an attempt that was claimed and not settled, also at an email. */
export async function refuseLate(ground: Ground): Promise<unknown> {
  if (ground.dice.chance(0.4)) return refuseClaimed(ground);
  const told = partBy(ground);
  if (!told) return false;
  const { part, ...message } = told;
  const kind = ground.dice.oneOf(["rejected", "deferred"] as const);
  const about = ground.dice.chance(0.3) ? message : { ...message, part };
  const refusal = { ...about, claim: ground.dice.between(1, 3), outcome: { kind, error: ERROR } };
  return (await ask(ground, (store) => store.receipts.recordLateRefusal(refusal, ground.clock.now)))[0];
}

async function refuseClaimed(ground: Ground): Promise<unknown> {
  const { dice, clock, jobs } = ground;
  if (jobs.length === 0) return false;
  const pair = dice.oneOf(jobs);
  const [{ messageId, claim, parts = [0] }] = pair;
  const refusal = {
    messageId,
    claim,
    connectorId: dice.oneOf(CONNECTORS),
    ...(dice.chance(0.5) && { part: dice.oneOf(parts) }),
    outcome: { kind: "deferred", error: ERROR } as const,
  };
  const refuse = (store: Store, engine: number) =>
    store.receipts.recordLateRefusal({ ...refusal, jobId: pair[engine]?.jobId ?? 0 }, clock.now);
  return (await ask(ground, refuse))[0];
}

export async function flagOverdue(ground: Ground): Promise<unknown> {
  const { now } = ground.clock;
  const limit = ground.dice.oneOf([1, 3, 500]);
  const flag = async ({ receipts }: Store) => {
    let flagged = 0;
    for (let some = 1; some > 0; flagged += some)
      some = await receipts.flagOverdue({ now, sentBefore: now - 5_000, limit });
    return flagged > 0;
  };
  // Of an id whose receipt came with a later one of its part, only one engine knows at once that there is nothing to flag.
  return (await ask(ground, flag, () => undefined))[0];
}

/** Asks a connector what has become of all that is overdue there; some answers are final. */
export async function askOverdue(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  await flagOverdue(ground);
  const connectorId = dice.oneOf(CONNECTORS);
  const request = { connectorId, now: clock.now, limit: 500, waitsMs: [2_000, 60_000] };
  const [questions] = await ask(
    ground,
    (store) => store.receipts.takeQuestions(request),
    (asked) => asked.map((each) => JSON.stringify(each)).sort(),
  );
  const answered = questions.filter(() => dice.chance(0.3));
  const receipts = answered.map(({ messageId, part, providerMessageId }) => ({
    connectorId,
    providerMessageId,
    target: { messageId, part },
    status: dice.oneOf(["delivered", "undelivered", "sent"] as const),
    receivedAt: clock.now,
  }));
  await ask(ground, (store) => store.receipts.record(receipts));
  return questions;
}

/** Looks for the messages of all that is parked at one connector among those of the others. */
export async function shareParked(ground: Ground): Promise<unknown> {
  const connectorId = ground.dice.oneOf(CONNECTORS);
  const alsoOf = CONNECTORS.filter((each) => each !== connectorId);
  const tried = { alsoOf, ...(ground.dice.chance(0.5) && { isRecent: true as const }) };
  const share = async ({ receipts }: Store) => {
    const parked = await receipts.parked({ connectorId, limit: 500 });
    const results = await receipts.record(parked.map(({ receipt }) => ({ ...receipt, ...tried })));
    return results.filter(({ kind }) => kind !== "parked");
  };
  return (await ask(ground, share))[0];
}

export async function dropParked(ground: Ground): Promise<unknown> {
  return (await ask(ground, (store) => store.receipts.dropParked({ most: 12, limit: 500 })))[0];
}
