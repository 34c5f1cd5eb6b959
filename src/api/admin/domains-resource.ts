import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import Type from "typebox";
import type { Domain } from "../../core/accounts.ts";
import type { Clock } from "../../core/clock.ts";
import { parseEmailAddress } from "../../core/email-address.ts";
import { toIso } from "../../core/timestamp.ts";
import type { Endpoint } from "../endpoint.ts";
import { notFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { type CheckedRecord, checkRecord, type Dns, recordsOf } from "./domain-records.ts";
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoint,
  showEndpoint,
  updateEndpoint,
} from "./record-endpoints.ts";
import { adminPath, MISSING, type RecordPlan, recordOf } from "./record-plan.ts";
import { givenFields, shownFields } from "./shown-fields.ts";

export function domainEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    createEndpoint(deps, plan, {
      schema: Type.Object({ account_id: givenFields.account_id, domain: domainName }),
      judge({ sound, errors }) {
        if (sound.domain !== undefined && !isDomain(normalised(sound.domain))) {
          errors.add("domain", "must be a domain, for example example.com");
        }
      },
      toRecord: async (given, { id, now }) => ({
        id,
        accountId: given.account_id.toLowerCase(),
        domain: normalised(given.domain),
        ownershipToken: `postrider-verification=${hex(deps, 20)}`,
        // Of its own for each account: two accounts that share a domain sign with different keys.
        dkimSelector: `pr${hex(deps, 4)}`,
        ...(await makeDkimKey()),
        createdAt: now,
      }),
    }),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateEndpoint(deps, plan, {
      schema: Type.Object({ dkim_selector: Type.Optional(selector) }),
      judge({ sound, errors }) {
        if (
          sound.dkim_selector !== undefined &&
          !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(sound.dkim_selector)
        ) {
          errors.add("dkim_selector", "must be letters, digits and hyphens");
        }
      },
      toChanges: (given) => (given.dkim_selector ? { dkimSelector: given.dkim_selector.toLowerCase() } : {}),
    }),
    deleteEndpoint(deps, plan),
    verifyEndpoint(deps),
  ];
}

const domainName = Type.String({ minLength: 1, maxLength: 253, examples: ["example.com"] });
const selector = Type.String({ minLength: 1, maxLength: 63, description: "Where the DKIM key is looked up" });

const dnsRecord = {
  purpose: Type.Enum(["ownership", "dkim", "return_path"]),
  type: Type.Enum(["TXT", "CNAME"]),
  name: Type.String(),
  value: Type.String(),
  strings: Type.Optional(
    Type.Array(Type.String(), { description: "TXT: the value in strings of at most 255" }),
  ),
};

const plan: RecordPlan<"domains"> = {
  kind: "domains",
  path: "domains",
  noun: "domain",
  operation: "Domain",
  idName: "domain_id",
  filters: { account_id: "accountId", domain: "domain" },
  shown: Type.Object({
    id: shownFields.id,
    account_id: shownFields.account_id,
    domain: domainName,
    dkim_selector: selector,
    verified_at: Type.Optional(Type.String({ format: "date-time", description: "Absent: not verified" })),
    records: Type.Array(Type.Object(dnsRecord), { description: "To be put into the domain's DNS" }),
    created_at: shownFields.created_at,
  }),
  show: toResource,
};

function toResource(domain: Domain) {
  return {
    id: domain.id,
    account_id: domain.accountId,
    domain: domain.domain,
    dkim_selector: domain.dkimSelector,
    verified_at: domain.verifiedAt === undefined ? undefined : toIso(domain.verifiedAt),
    records: recordsOf(domain),
    created_at: toIso(domain.createdAt),
  };
}

function normalised(written: string): string {
  return written.toLowerCase().replace(/\.$/, "");
}

function isDomain(name: string): boolean {
  return parseEmailAddress(`a@${name}`)?.endsWith(`@${name}`) ?? false;
}

function hex({ randomBytes }: AdminDeps, octets: number): string {
  return Buffer.from(randomBytes(octets)).toString("hex");
}

/** RFC 8301: RSA keys of at least 1024, better 2048 bits. Made off the event loop. */
async function makeDkimKey(): Promise<Pick<Domain, "dkimPublicKey" | "dkimPrivateKey">> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return {
    dkimPublicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    dkimPrivateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function verifyEndpoint(deps: AdminDeps): Endpoint {
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
    summary: "Look the domain's records up; with all three in place it is verified",
    responses: {
      200: {
        description: "Record by record; a verification once given is not taken away by a later miss",
        schema: Type.Object({
          verified: Type.Boolean(),
          verified_at: Type.Optional(Type.String({ format: "date-time" })),
          records: Type.Array(checked),
        }),
      },
      404: MISSING,
    },
    async handle(call) {
      const domain = await recordOf(deps, "domains", call);
      const dns = withTimeLimit(deps);
      const records = await Promise.all(recordsOf(domain).map((record) => checkRecord(dns, record)));
      const verifiedAt = await settleVerification(deps, { domain, records, now: call.now });
      return Response.json({
        verified: records.every((record) => record.ok),
        verified_at: verifiedAt === undefined ? undefined : toIso(verifiedAt),
        records,
      });
    },
  };
}

async function settleVerification(
  deps: AdminDeps,
  { domain, records, now }: { domain: Domain; records: readonly CheckedRecord[]; now: number },
): Promise<number | undefined> {
  if (domain.verifiedAt !== undefined || !records.every((record) => record.ok)) return domain.verifiedAt;
  const updated = await deps.store.records.update("domains", domain.id, { verifiedAt: now });
  if (!updated || "conflict" in updated) throw notFound();
  return updated.verifiedAt;
}

const LOOKUP_LIMIT_MS = 10_000;

function withTimeLimit({ clock, resolveTxt, resolveMx, resolveCname }: AdminDeps): Dns {
  return {
    resolveTxt: (name) => limited(clock, resolveTxt(name)),
    resolveMx: (name) => limited(clock, resolveMx(name)),
    resolveCname: (name) => limited(clock, resolveCname(name)),
  };
}

async function limited<T>(clock: Clock, answer: Promise<T>): Promise<T> {
  let stop: (() => void) | undefined;
  const timeout = new Promise<never>((_, reject) => {
    stop = clock.after(LOOKUP_LIMIT_MS, () =>
      reject(Object.assign(new Error("timeout"), { code: "ETIMEOUT" })),
    );
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    stop?.();
  }
}
