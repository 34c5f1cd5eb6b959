/** The providers whose interfaces are described in `providers/`, and the one that the operator describes. */
export const PROVIDER_NAMES = [
  "custom",
  "gupshup",
  "infobip",
  "kannel",
  "msg91",
  "plivo",
  "twilio",
  "vonage",
] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];
