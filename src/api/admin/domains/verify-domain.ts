import Type from "typebox";
import { checkRecords } from "../../../core/domains/domain-check.ts";
import { type DnsRecord, type RecordVerdict, recordsOf } from "../../../core/domains/domain-records.ts";
import { judgeDomain } from "../../../core/domains/domain-verdict.ts";
import type { Call, Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { changeRecord } from "../change-record.ts";
import { adminOnly, adminPath, MISSING, type RecordPlan, recordOf } from "../record-plan.ts";
import { shownTime } from "../shown-fields.ts";
import { dnsRecordFields, shownDnsRecord } from "./dns-records.ts";
import { readDomainPolicy } from "./domain-policy.ts";
import { withTimeLimit } from "./timed-dns.ts";

/** Looks up a domain's records now. */
export function verifyEndpoint(deps: AdminDeps, plan: RecordPlan<"domains">): Endpoint {
  const checked = Type.Object({
    ...dnsRecordFields,
    ok: Type.Boolean(),
    found: Type.Array(Type.String()),
    problem: Type.Optional(Type.String()),
  });
  return {
    ...adminOnly("domains"),
    method: "POST",
    path: adminPath("domains/{id}/verify"),
    operation: "verifyDomain",
    summary: "Check the domain's DNS records; it is verified if all required ones are found",
    responses: {
      200: {
        description: "The result by record; a domain stays verified if a later check fails once",
        schema: Type.Object({
          verified: Type.Boolean(),
          verified_at: Type.Optional(Type.String({ format: "date-time" })),
          records: Type.Array(checked),
        }),
      },
      404: MISSING,
    },
    handle: (call) => verify(deps, plan, call),
  };
}

async function verify(deps: AdminDeps, plan: RecordPlan<"domains">, call: Call): Promise<Response> {
  const domain = await recordOf(deps, "domains", call);
  const { returnPathHost, graceMs } = await readDomainPolicy(deps);
  const records = recordsOf(domain, returnPathHost);
  const verdicts = await checkRecords(withTimeLimit(deps), records);
  const updated = await changeRecord(deps, plan, {
    current: domain,
    // Judges the current record: keys may have been added while DNS was asked.
    toChanges: (current) => judgeDomain(current, { now: call.now, records, verdicts, graceMs }),
  });
  return Response.json({
    verified:
      updated.verifiedAt !== undefined && updated.failingSince === undefined && isComplete(records, verdicts),
    verified_at: shownTime(updated.verifiedAt),
    records: records.map((record, index) => ({
      ...shownDnsRecord(record),
      ok: verdicts[index]?.result === "ok",
      found: verdicts[index]?.found ?? [],
      problem: verdicts[index]?.problem,
    })),
  });
}

function isComplete(records: readonly DnsRecord[], verdicts: readonly RecordVerdict[]): boolean {
  return records.every(({ role }, index) => role !== "required" || verdicts[index]?.result === "ok");
}
