import Type from "typebox";
import { DOMAIN_STATES, type Domain, nextPair, signingPair, stateOf } from "../../../core/domains/domain.ts";
import { type DnsRecord, RECORD_RESULTS, recordsOf } from "../../../core/domains/domain-records.ts";
import { domainKey } from "../../../core/suppressions/address-key.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { judgeField } from "../draft.ts";
import { givenFields } from "../given-fields.ts";
import { recordEndpoints } from "../record-endpoints.ts";
import type { RecordPlan } from "../record-plan.ts";
import { shownFields, shownTime } from "../shown-fields.ts";
import { newDkimPair } from "./dkim-pair.ts";
import { dnsRecordFields, shownDnsRecord } from "./dns-records.ts";
import { isDomain, NOT_A_DOMAIN } from "./domain-name.ts";
import { type DomainPolicy, readDomainPolicy } from "./domain-policy.ts";
import { rotateEndpoint } from "./rotate-dkim.ts";
import { verifyEndpoint } from "./verify-domain.ts";

/** Sender domains: their DNS records and DKIM keys, and whether they are verified. */
export function domainEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const plan = planOf(deps);
  return [
    ...recordEndpoints(deps, plan, {
      create: {
        schema: Type.Object({ account_id: givenFields.account_id, domain: domainName }),
        judge: (draft) =>
          judgeField(draft, "domain", (text) => (isDomain(normalised(text)) ? undefined : NOT_A_DOMAIN)),
        toRecord: async (given, stamp) => ({
          ...stamp,
          domain: normalised(given.domain),
          ownershipToken: `postrider-verification=${Buffer.from(deps.randomBytes(20)).toString("hex")}`,
          dkimKeys: [await newDkimPair(deps, stamp.createdAt)],
        }),
      },
      update: {
        schema: Type.Object({ dkim_selector: Type.Optional(selector) }),
        judge({ valid, errors }, current) {
          const selector = newSelector(valid.dkim_selector, current);
          const problem = selector === undefined ? undefined : selectorProblem(selector, current);
          if (problem !== undefined) errors.add("dkim_selector", problem);
        },
        toChanges(given, current) {
          const selector = newSelector(given.dkim_selector, current);
          return selector === undefined ? {} : { dkimKeys: withSelector(current.dkimKeys, selector) };
        },
      },
    }),
    verifyEndpoint(deps, plan),
    rotateEndpoint(deps, plan),
  ];
}

const domainName = Type.String({ minLength: 1, maxLength: 253, examples: ["example.com"] });
const selector = Type.String({
  minLength: 1,
  maxLength: 60,
  description: "Where the RSA key is looked up; the Ed25519 key's ends in -ed",
});
const time = Type.String({ format: "date-time" });

/** The selector that is chosen for the newest keys; `undefined` if it is the one that is shown, which may be that of older ones. */
function newSelector(given: string | undefined, current: Domain): string | undefined {
  const wanted = given?.toLowerCase();
  return wanted === signingPair(current)?.selector ? undefined : wanted;
}

function selectorProblem(selector: string, { dkimKeys }: Domain): string | undefined {
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(selector)) return "must be letters, digits and hyphens";
  if (dkimKeys.at(-1)?.seenAt !== undefined) return "is in the DNS already: new keys get a new one";
  const isTaken = dkimKeys.slice(0, -1).some((older) => older.selector === selector);
  return isTaken ? "is that of older keys" : undefined;
}

function withSelector(keys: Domain["dkimKeys"], selector: string): Domain["dkimKeys"] {
  return keys.map((pair, index) => (index === keys.length - 1 ? { ...pair, selector } : pair));
}

const lastResult = Type.Optional(Type.Enum(RECORD_RESULTS, { description: "Result of the last check" }));

const OF_DNS = "follows from the domain's DNS: POST /admin/v1/domains/{id}/verify looks again";

const INSTEAD = {
  state: OF_DNS,
  next_dkim_selector: "is changed as dkim_selector",
  verified_at: OF_DNS,
  failing_since: OF_DNS,
  stops_at: OF_DNS,
  lapsed_at: OF_DNS,
  checked_at: OF_DNS,
  records: OF_DNS,
} as const;

const FOLLOW_DNS = Object.entries(INSTEAD).flatMap(([name, instead]) => (instead === OF_DNS ? [name] : []));

function planOf(deps: AdminDeps): RecordPlan<"domains"> {
  return {
    kind: "domains",
    path: "domains",
    noun: "domain",
    operation: "Domain",
    idName: "domain_id",
    filters: { account_id: "accountId", domain: "domain" },
    calledBy: { domain: "domain" },
    toStored: { domain: (text) => text.toLowerCase() },
    shown: Type.Object({
      account_id: shownFields.account_id,
      domain: domainName,
      state: Type.Enum(DOMAIN_STATES, {
        description:
          "`failing`: its records are missing, and it may send until `stops_at`. `lapsed`: it may not any more",
      }),
      dkim_selector: selector,
      next_dkim_selector: Type.Optional(selector),
      verified_at: Type.Optional({ ...time, description: "Absent: not verified" }),
      failing_since: Type.Optional(time),
      stops_at: Type.Optional(time),
      lapsed_at: Type.Optional(time),
      checked_at: Type.Optional(time),
      records: Type.Array(Type.Object({ ...dnsRecordFields, last_result: lastResult }), {
        description: "Records to add to the domain's DNS",
      }),
    }),
    instead: INSTEAD,
    changesByItself: FOLLOW_DNS,
    show: async (domain) => toResource(domain, await readDomainPolicy(deps)),
  };
}

function toResource(domain: Domain, { returnPathHost, graceMs }: DomainPolicy) {
  const { verifiedAt, failingSince, lapsedAt, lastCheck } = domain;
  const resultOf = ({ name }: DnsRecord) => lastCheck?.records.find((each) => each.name === name)?.result;
  return {
    account_id: domain.accountId,
    domain: domain.domain,
    state: stateOf(domain),
    dkim_selector: signingPair(domain)?.selector,
    next_dkim_selector: nextPair(domain)?.selector,
    verified_at: shownTime(verifiedAt),
    failing_since: shownTime(failingSince),
    stops_at: failingSince === undefined ? undefined : toIso(failingSince + graceMs),
    lapsed_at: shownTime(lapsedAt),
    checked_at: shownTime(lastCheck?.at),
    records: recordsOf(domain, returnPathHost).map((record) => ({
      ...shownDnsRecord(record),
      last_result: resultOf(record),
    })),
  };
}

function normalised(written: string): string {
  return domainKey(written.replace(/\.$/, ""));
}
