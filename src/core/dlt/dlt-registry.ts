/** The states and types that DLT portals register, in our words. A record without one is not judged by it. */

/** States of an entity, a header or a template: only `approved` may send. */
export const DLT_STATUSES = ["approved", "pending", "rejected", "inactive", "blacklisted"] as const;
export type DltStatus = (typeof DLT_STATUSES)[number];

/** What a header is registered for; operators show it as a letter after the header. */
export const HEADER_TYPES = ["transactional", "service", "promotional", "government"] as const;
export type HeaderType = (typeof HEADER_TYPES)[number];
