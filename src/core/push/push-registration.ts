/** The requests that the push endpoints pass to the store, and its answers. Times are Unix milliseconds. */
import type { RequestAnswer, SavedAnswer } from "../messages/accept-request.ts";
import type { IdentifyUser, RegisterDevice } from "./push-device.ts";

export type PushAnswer =
  | { readonly kind: "done"; readonly answer: RequestAnswer }
  | { readonly kind: "replay"; readonly answer: SavedAnswer };

/** Nothing was registered: the app has been deleted. */
export interface AppGone {
  readonly kind: "app_not_found";
}

/** An answer in whose body `{registration_id}` and `{contact_id}` stand for ids that only the store knows. */
export type AnswerForm = RequestAnswer;

export interface AnswerIds {
  readonly registrationId?: string;
  readonly contactId: string;
}

export function fillAnswer({ status, body }: AnswerForm, ids: AnswerIds): RequestAnswer {
  const filled = body
    .replaceAll(ID_MARKS.registrationId, ids.registrationId ?? "")
    .replaceAll(ID_MARKS.contactId, ids.contactId);
  return { status, body: filled };
}

export const ID_MARKS = { registrationId: "{registration_id}", contactId: "{contact_id}" } as const;

export interface DeviceRegistration extends RegisterDevice {
  /** Used for a new registration; a known one keeps its own. */
  readonly registrationId: string;
  /** Used for a new device's anonymous contact. */
  readonly contactId: string;
  readonly now: number;
  readonly answer: AnswerForm;
}

export interface IdentifyRequest extends IdentifyUser {
  readonly now: number;
  readonly answer: AnswerForm;
}
