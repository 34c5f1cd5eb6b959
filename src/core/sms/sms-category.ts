/** TRAI's categories of commercial messages; each DLT template is registered under one. */
export const SMS_CATEGORIES = [
  "transactional",
  "service_implicit",
  "service_explicit",
  "promotional",
] as const;

export type SmsCategory = (typeof SMS_CATEGORIES)[number];
