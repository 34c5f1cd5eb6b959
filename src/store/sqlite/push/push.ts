import type { Idempotency, RequestAnswer } from "../../../core/messages/accept-request.ts";
import { fillAnswer, type PushAnswer } from "../../../core/push/push-registration.ts";
import type { PushStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { IdempotencyKeys } from "../intake/idempotency-keys.ts";
import { createIdentify } from "./push-identify.ts";
import { createRegister } from "./push-register.ts";

/** Registrations of devices and their contacts, each call with its idempotency key in one transaction. */
export function createPush(db: Database, keys: IdempotencyKeys): PushStore {
  const register = createRegister(db);
  const identify = createIdentify(db);

  const replayOf = (idempotency: Idempotency | undefined): PushAnswer | undefined => {
    const answer = idempotency && keys.find(idempotency);
    return answer && { kind: "replay", answer };
  };
  const done = (answer: RequestAnswer, idempotency: Idempotency | undefined): PushAnswer => {
    if (idempotency) keys.take(idempotency, answer);
    return { kind: "done", answer };
  };

  return {
    register: (device, idempotency) =>
      db.writeForClient(() => {
        const replay = replayOf(idempotency);
        if (replay) return replay;
        const ids = register(device);
        if (!ids) return { kind: "app_not_found" };
        return done(fillAnswer(device.answer, ids), idempotency);
      }),
    identify: (request, idempotency) =>
      db.writeForClient(() => {
        const replay = replayOf(idempotency);
        if (replay) return replay;
        const contactId = identify(request);
        if (contactId === undefined) return { kind: "contact_not_found" };
        return done(fillAnswer(request.answer, { contactId }), idempotency);
      }),
  };
}
