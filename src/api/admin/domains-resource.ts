import Type from "typebox";
import { DOMAIN_STATES, type Domain, nextPair, signingPair, stateOf } from "../../core/domains/domain.ts";
import { checkRecords } from "../../core/domains/domain-check.ts";
import {
  DNS_TYPES,
  type DnsRecord,
  RECORD_PURPOSES,
  RECORD_RESULTS,
  RECORD_ROLES,
  type RecordVerdict,
  recordsOf,
  zoneLine,
} from "../../core/domains/domain-records.ts";
import { judgeDomain } from "../../core/domains/domain-verdict.ts";
import { DAY_MS } from "../../core/durations.ts";
import { parseEmailAddress } from "../../core/email/email-address.ts";
import { readSetting } from "../../core/records/settings.ts";
import { domainKey } from "../../core/suppressions/address-key.ts";
import { toIso } from "../../core/timestamp.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { conflict } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { changeRecord } from "./change-record.ts";
import { makeDkimPair } from "./dkim-pair.ts";
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoint,
  showEndpoint,
  updateEndpoint,
} from "./record-endpoints.ts";
import { adminPath, MISSING, type RecordPlan, recordOf, shownRecord, shownSchema } from "./record-plan.ts";
import { givenFields, shownFields } from "./shown-fields.ts";
import { withTimeLimit } from "./timed-dns.ts";

/** Sender domains: their DNS records and DKIM keys, and whether they are verified. */
export function domainEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const plan = planOf(deps);
  return [
    createEndpoint(deps, plan, {
      schema: Type.Object({ account_id: givenFields.account_id, domain: domainName }),
      judge({ valid, errors }) {
        if (valid.domain !== undefined && !isDomain(normalised(valid.domain))) {
          errors.add("domain", "must be a domain, for example example.com");
        }
      },
      toRecord: async (given, { id, now }) => ({
        id,
        accountId: given.account_id.toLowerCase(),
        domain: normalised(given.domain),
        ownershipToken: `postrider-verification=${randomHex(deps, 20)}`,
        dkimKeys: [await makeDkimPair(newSelector(deps), now)],
        createdAt: now,
      }),
    }),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateEndpoint(deps, plan, {
      schema: Type.Object({ dkim_selector: Type.Optional(selector) }),
      judge({ valid, errors }, { dkimKeys }) {
        const name = valid.dkim_selector;
        if (name === undefined) return;
        if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(name))
          errors.add("dkim_selector", "must be letters, digits and hyphens");
        if (dkimKeys.at(-1)?.seenAt !== undefined)
          errors.add("dkim_selector", "is in the DNS already: new keys get a new one");
      },
      toChanges: (given, { dkimKeys }) =>
        given.dkim_selector ? { dkimKeys: withSelector(dkimKeys, given.dkim_selector.toLowerCase()) } : {},
    }),
    deleteEndpoint(deps, plan),
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

/** Random: two accounts may share a domain, and each signs with its own keys. */
function newSelector(deps: AdminDeps): string {
  return `pr${randomHex(deps, 4)}`;
}

function withSelector(keys: Domain["dkimKeys"], selector: string): Domain["dkimKeys"] {
  return keys.map((pair, index) => (index === keys.length - 1 ? { ...pair, selector } : pair));
}

const dnsRecord = {
  purpose: Type.Enum(RECORD_PURPOSES),
  role: Type.Enum(RECORD_ROLES, {
    description: "`next`: of keys that sign once it is seen; `retiring`: of keys that no longer do",
  }),
  type: Type.Enum(DNS_TYPES),
  name: Type.String(),
  value: Type.String(),
  strings: Type.Optional(
    Type.Array(Type.String(), { description: "TXT: the value in strings of at most 255" }),
  ),
  zone: Type.String({ description: "The record as a line of a zone file" }),
};

const lastResult = Type.Optional(Type.Enum(RECORD_RESULTS, { description: "What the last look found" }));

function planOf(deps: AdminDeps): RecordPlan<"domains"> {
  return {
    kind: "domains",
    path: "domains",
    noun: "domain",
    operation: "Domain",
    idName: "domain_id",
    filters: { account_id: "accountId", domain: "domain" },
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
      records: Type.Array(Type.Object({ ...dnsRecord, last_result: lastResult }), {
        description: "To be put into the domain's DNS",
      }),
    }),
    show: async (domain) => toResource(domain, await readPolicy(deps)),
  };
}

interface Policy {
  readonly returnPathHost: string | undefined;
  readonly graceMs: number;
}

async function readPolicy({ store }: AdminDeps): Promise<Policy> {
  const stored = await store.records.settings(undefined);
  return {
    returnPathHost: readSetting(stored, "return_path_host"),
    graceMs: readSetting(stored, "domain_grace_days") * DAY_MS,
  };
}

function toResource(domain: Domain, { returnPathHost, graceMs }: Policy) {
  const { verifiedAt, failingSince, lapsedAt, lastCheck } = domain;
  const resultOf = ({ name }: DnsRecord) => lastCheck?.records.find((each) => each.name === name)?.result;
  return {
    account_id: domain.accountId,
    domain: domain.domain,
    state: stateOf(domain),
    dkim_selector: signingPair(domain)?.selector,
    next_dkim_selector: nextPair(domain)?.selector,
    verified_at: toTime(verifiedAt),
    failing_since: toTime(failingSince),
    stops_at: failingSince === undefined ? undefined : toIso(failingSince + graceMs),
    lapsed_at: toTime(lapsedAt),
    checked_at: toTime(lastCheck?.at),
    records: recordsOf(domain, returnPathHost).map((record) => ({
      ...record,
      zone: zoneLine(record),
      last_result: resultOf(record),
    })),
  };
}

function toTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : toIso(at);
}

function normalised(written: string): string {
  return domainKey(written.replace(/\.$/, ""));
}

export function isDomain(name: string): boolean {
  // `canParse` fails for names without an ASCII form: those cannot be in the DNS.
  return URL.canParse(`http://${name}`) && (parseEmailAddress(`a@${name}`)?.endsWith(`@${name}`) ?? false);
}

function randomHex({ randomBytes }: AdminDeps, octets: number): string {
  return Buffer.from(randomBytes(octets)).toString("hex");
}

function verifyEndpoint(deps: AdminDeps, plan: RecordPlan<"domains">): Endpoint {
  const checked = Type.Object({
    ...dnsRecord,
    ok: Type.Boolean(),
    found: Type.Array(Type.String()),
    problem: Type.Optional(Type.String()),
  });
  return {
    auth: "admin",
    tag: "Admin: domains",
    method: "POST",
    path: adminPath("domains/{id}/verify"),
    operation: "verifyDomain",
    summary: "Look the domain's records up; with all that are required in place it is verified",
    responses: {
      200: {
        description: "Record by record; a verification once given is not taken away by one miss",
        schema: Type.Object({
          verified: Type.Boolean(),
          verified_at: Type.Optional(time),
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
  const { returnPathHost, graceMs } = await readPolicy(deps);
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
    verified_at: toTime(updated.verifiedAt),
    records: records.map((record, index) => ({
      ...record,
      zone: zoneLine(record),
      ok: verdicts[index]?.result === "ok",
      found: verdicts[index]?.found ?? [],
      problem: verdicts[index]?.problem,
    })),
  });
}

function isComplete(records: readonly DnsRecord[], verdicts: readonly RecordVerdict[]): boolean {
  return records.every(({ role }, index) => role !== "required" || verdicts[index]?.result === "ok");
}

function rotateEndpoint(deps: AdminDeps, plan: RecordPlan<"domains">): Endpoint {
  return {
    auth: "admin",
    tag: "Admin: domains",
    method: "POST",
    path: adminPath("domains/{id}/rotate-dkim"),
    operation: "rotateDkim",
    summary: "Make new DKIM keys under a new selector; the old ones sign until the new records are seen",
    responses: {
      200: { description: "With the records of both", schema: shownSchema(plan) },
      404: MISSING,
      409: { description: "Keys that were made before still wait for their records" },
    },
    async handle(call) {
      const updated = await changeRecord(deps, plan, {
        current: await recordOf(deps, "domains", call),
        async toChanges(domain) {
          if (nextPair(domain))
            throw conflict({ dkim_selector: "the next keys still wait for their records" });
          const pair = await makeDkimPair(newSelector(deps), call.now);
          // Keys that were never in the DNS can be dropped: nobody could verify what they signed.
          const kept = domain.dkimKeys.filter(({ seenAt }) => seenAt !== undefined);
          return { dkimKeys: [...kept, pair], nextCheckAt: null };
        },
      });
      return Response.json(await shownRecord(plan, updated));
    },
  };
}
