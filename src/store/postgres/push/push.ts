import type { Clock } from "../../../core/clock.ts";
import type { Idempotency, RequestAnswer } from "../../../core/messages/accept-request.ts";
import { fillAnswer, type PushAnswer } from "../../../core/push/push-registration.ts";
import type { PushStore } from "../../store.ts";
import type { Database, Transaction } from "../database/transactions.ts";
import { inTurns } from "../database/turns.ts";
import { findAnswers, lockKey, saveAnswer } from "../intake/idempotency-keys.ts";
import { identify } from "./push-identify.ts";
import { register } from "./push-register.ts";

/** Registrations of devices and their contacts, each call with its idempotency key in one transaction. */
export function createPush(db: Database, clock: Pick<Clock, "after">): PushStore {
  // Some wait for one another, and anyone may send hundreds at once.
  const inTurn = inTurns(db, clock, "too many devices wait to be registered or identified");
  return {
    register: (device, idempotency) =>
      inTurn(async (session) => {
        const replay = await replayOf(session, idempotency);
        if (replay) return replay;
        const ids = await register(session, device);
        if (!ids) return { kind: "app_not_found" };
        return done(session, fillAnswer(device.answer, ids), idempotency);
      }),
    identify: (request, idempotency) =>
      inTurn(async (session) => {
        const replay = await replayOf(session, idempotency);
        if (replay) return replay;
        const contactId = await identify(session, request);
        if (contactId === undefined) return { kind: "contact_not_found" };
        return done(session, fillAnswer(request.answer, { contactId }), idempotency);
      }),
  };
}

/** Locks the key from the start, since the answer that is saved under it is known only at the end. */
async function replayOf(session: Transaction, key: Idempotency | undefined): Promise<PushAnswer | undefined> {
  if (!key) return undefined;
  lockKey(session, key);
  const answer = (await findAnswers(session, [key])).get(0);
  return answer && { kind: "replay", answer };
}

function done(session: Transaction, answer: RequestAnswer, key: Idempotency | undefined): PushAnswer {
  if (key) saveAnswer(session, { ...key, answer });
  return { kind: "done", answer };
}
