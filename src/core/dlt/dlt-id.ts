import { isVisibleAscii } from "../body/text-rules.ts";
import type { AccountMode } from "../records/accounts.ts";

/**
 * What is wrong with a DLT template or entity id; `undefined` if nothing is. Real ids have 12 to 19 digits; the rule for
 * live accounts leaves room on both sides. A sandbox accepts any short text of visible ASCII.
 */
export function dltIdProblem(id: string, mode: AccountMode): string | undefined {
  if (mode === "live") return LIVE_ID.test(id) ? undefined : "must be a DLT id of 8 to 30 digits";
  return id.length <= 64 && isVisibleAscii(id) ? undefined : "must be 1 to 64 visible ASCII characters";
}

const LIVE_ID = /^\d{8,30}$/;
