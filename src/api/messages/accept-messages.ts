import type { AcceptRequest } from "../../core/messages/accept-request.ts";
import { tallyOf } from "../../core/messages/sending-limits.ts";
import type { Intake } from "../../store/store.ts";
import type { Answered } from "../answer.ts";
import type { Call } from "../endpoint.ts";
import { invalidApiKey, requestInProgress } from "../errors.ts";
import { idempotencyOf, isStrict, replayed } from "../idempotency.ts";
import { overSendingLimit } from "../limits/sending-limit.ts";

/** Stores a request with its answer, and returns the answer; if its `Idempotency-Key` was used before, the saved one. */
export async function acceptMessages(
  intake: Intake,
  request: Omit<AcceptRequest, "idempotency">,
  { call, operation, body }: { readonly call: Call; readonly operation: string; readonly body: string },
): Promise<Answered> {
  const idempotency = idempotencyOf(call, operation);
  const result = await intake.accept(
    idempotency ? { ...request, idempotency: { ...idempotency, answer: { status: 202, body } } } : request,
  );
  // The account and its keys were deleted within the last second, for which a key is cached.
  if (result.kind === "no_account") throw invalidApiKey();
  if (result.kind === "in_progress") throw requestInProgress();
  if (result.kind === "over_limit") {
    throw overSendingLimit(result.refusal, tallyOf(request.messages.map(({ recipient }) => recipient)), call);
  }
  if (result.kind === "replay") {
    const bodyDigest = idempotency?.bodyDigest ?? "";
    return replayed(result.answer, { bodyDigest, isStrict: isStrict(call.caller?.settings ?? {}) });
  }
  return { status: 202, json: body };
}
