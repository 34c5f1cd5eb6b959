import type { DeviceRegistration } from "../../core/push/push-registration.ts";

export interface RegistrationRow {
  readonly id: string;
  readonly contact_id: string;
  readonly device_id: string | null;
}

/** What every registration sets, in this order: platform, token, device id, OS and app version, locale, time zone, time. */
export function attributesOf(device: DeviceRegistration): readonly (string | number | null)[] {
  const { platform, token, deviceId, osVersion, appVersion, locale, timezone, now } = device;
  const optional = [deviceId, osVersion, appVersion, locale, timezone];
  return [platform, token, ...optional.map((text) => text ?? null), now];
}
