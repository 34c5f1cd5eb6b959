import type { Idempotency } from "../../core/messages/accept-request.ts";
import type {
  AppGone,
  DeviceRegistration,
  IdentifyRequest,
  PushAnswer,
} from "../../core/push/push-registration.ts";

/** Devices registered for push notifications, and the contacts that they belong to. */
export interface PushStore {
  /**
   * Adds or updates the registration of a device. There is one for each (app, device id), or (app, token) if no device id is
   * given. A known registration keeps its id and contact, and takes the new token and attributes. Any other registration of
   * the app loses the token.
   */
  register(device: DeviceRegistration, idempotency?: Idempotency): Promise<PushAnswer | AppGone>;
  /** Moves all registrations of the device to the contact, and removes anonymous contacts that have none left. */
  identify(
    request: IdentifyRequest,
    idempotency?: Idempotency,
  ): Promise<PushAnswer | { readonly kind: "contact_not_found" }>;
}
