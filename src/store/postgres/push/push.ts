import type { Idempotency, RequestAnswer } from "../../../core/messages/accept-request.ts";
import { fillAnswer, type PushAnswer } from "../../../core/push/push-registration.ts";
import type { PushStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";
import { findAnswers, lockKey, takeKeys, WITHOUT_LIMIT } from "../intake/idempotency-keys.ts";
import { identify } from "./push-identify.ts";
import { register } from "./push-register.ts";

/** Registrations of devices and their contacts, each call with its idempotency key in one transaction. */
export function createPush(db: Database): PushStore {
  return {
    register: (device, idempotency) =>
      db.transaction(
        async (session) =>
          (await replayOf(session, idempotency)) ??
          done(session, fillAnswer(device.answer, await register(session, device)), idempotency),
      ),
    identify: (request, idempotency) =>
      db.transaction(async (session) => {
        const replay = await replayOf(session, idempotency);
        if (replay) return replay;
        const contactId = await identify(session, request);
        if (contactId === undefined) return { kind: "contact_not_found" };
        return done(session, fillAnswer(request.answer, { contactId }), idempotency);
      }),
  };
}

/** Locks the key from the start, since the answer that is saved under it is known only at the end. */
async function replayOf(session: Session, key: Idempotency | undefined): Promise<PushAnswer | undefined> {
  if (!key) return undefined;
  await lockKey(session, key);
  const answer = (await findAnswers(session, [key])).get(0);
  return answer && { kind: "replay", answer };
}

async function done(
  session: Session,
  answer: RequestAnswer,
  key: Idempotency | undefined,
): Promise<PushAnswer> {
  if (key) await takeKeys(session, [{ ...key, answer }], WITHOUT_LIMIT);
  return { kind: "done", answer };
}
