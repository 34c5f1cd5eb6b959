import type { AcceptRequest } from "../../core/messages/accept-request.ts";
import { SCHEDULE_HAS_PASSED } from "../../core/messages/delivery-options.ts";
import { tallyOf } from "../../core/messages/sending-limits.ts";
import { present } from "../../core/present.ts";
import type { Intake } from "../../store/store.ts";
import type { Answered } from "../answer.ts";
import type { Call } from "../endpoint.ts";
import { invalidApiKey, requestInProgress, validationFailed } from "../errors.ts";
import { idempotencyOf, replayed } from "../idempotency.ts";
import { overSendingLimit } from "../limits/sending-limit.ts";

/** Stores a request with its answer, and returns the answer; if its `Idempotency-Key` was used before, the saved one. */
export async function acceptMessages(
  intake: Intake,
  request: Omit<AcceptRequest, "idempotency">,
  { call, body, scheduleAt }: Accepting,
): Promise<Answered> {
  const idempotency = idempotencyOf(call);
  const key = idempotency && {
    ...idempotency,
    answer: { status: 202, body },
    ...present({ acceptBefore: scheduleAt }),
  };
  const result = await intake.accept(key ? { ...request, idempotency: key } : request);
  // The account and its keys were deleted within the last second, for which a key is cached.
  if (result.kind === "no_account") throw invalidApiKey();
  if (result.kind === "in_progress") throw requestInProgress();
  if (result.kind === "too_late") throw validationFailed({ schedule_at: SCHEDULE_HAS_PASSED });
  if (result.kind === "over_limit") {
    throw overSendingLimit(result.refusal, tallyOf(request.messages.map(({ recipient }) => recipient)), call);
  }
  if (result.kind === "replay") return replayed(result.answer, idempotency, call);
  return { status: 202, json: body };
}

interface Accepting {
  readonly call: Call;
  /** The JSON of the answer. */
  readonly body: string;
  /** The request's `schedule_at`, in Unix milliseconds. */
  readonly scheduleAt: number | undefined;
}
