import type { Lane } from "../../core/webhooks/webhook-outbox.ts";

/** The lane as a key of maps. */
export function laneKey({ accountId, host }: Lane): string {
  return `${accountId} ${host}`;
}
