/** What the push endpoints hand to the store, and what they get back. Times are Unix milliseconds. */
import type { Idempotency, SavedAnswer } from "./accept-request.ts";
import type { PushPlatform } from "./accounts.ts";

/** The answer is made from the ids inside the transaction and saved with them. */
export type PushIdempotency = Idempotency;

export type PushAnswer =
  | { readonly kind: "done"; readonly answer: Omit<SavedAnswer, "bodyDigest"> }
  | { readonly kind: "replay"; readonly answer: SavedAnswer };

export interface DeviceRegistration {
  /** Used for a new registration; a known one keeps its own. */
  readonly registrationId: string;
  /** Used for a new device's anonymous contact. */
  readonly contactId: string;
  readonly accountId: string;
  readonly appId: string;
  readonly platform: PushPlatform;
  readonly token: string;
  readonly deviceId?: string;
  readonly osVersion?: string;
  readonly appVersion?: string;
  readonly locale?: string;
  readonly timezone?: string;
  readonly now: number;
  /** Makes the answer from what was stored. Pure. */
  readonly answer: (ids: { registrationId: string; contactId: string }) => Omit<SavedAnswer, "bodyDigest">;
}

export interface IdentifyRequest {
  readonly accountId: string;
  readonly deviceId: string;
  /** Both given: the contact id counts, and the external id must match. */
  readonly contactId?: string;
  readonly externalId?: string;
  readonly now: number;
  readonly answer: (contactId: string) => Omit<SavedAnswer, "bodyDigest">;
}
