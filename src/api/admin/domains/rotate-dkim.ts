import { nextPair } from "../../../core/domains/domain.ts";
import type { Endpoint } from "../../endpoint.ts";
import { conflict } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { changeRecord } from "../change-record.ts";
import {
  adminOnly,
  adminPath,
  MISSING,
  type RecordPlan,
  recordOf,
  shownRecord,
  shownSchema,
} from "../record-plan.ts";
import { newDkimPair } from "./dkim-pair.ts";

/** Makes new DKIM keys for a domain. */
export function rotateEndpoint(deps: AdminDeps, plan: RecordPlan<"domains">): Endpoint {
  return {
    ...adminOnly("domains"),
    method: "POST",
    path: adminPath("domains/{id}/rotate-dkim"),
    operation: "rotateDkim",
    summary: "Make new DKIM keys under a new selector; the old ones sign until the new records are seen",
    responses: {
      200: { description: "The domain, with the records of old and new keys", schema: shownSchema(plan) },
      404: MISSING,
      409: { description: "The records of the previous new keys have not been seen yet" },
    },
    async handle(call) {
      const updated = await changeRecord(deps, plan, {
        current: await recordOf(deps, "domains", call),
        async toChanges(domain) {
          if (nextPair(domain))
            throw conflict({ dkim_selector: "the next keys still wait for their records" });
          const pair = await newDkimPair(deps, call.now);
          // Keys that were never in the DNS can be dropped: nobody could verify what they signed.
          const kept = domain.dkimKeys.filter(({ seenAt }) => seenAt !== undefined);
          return { dkimKeys: [...kept, pair], nextCheckAt: null };
        },
      });
      return Response.json(await shownRecord(plan, updated));
    },
  };
}
