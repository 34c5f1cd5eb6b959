import Type from "typebox";
import { present } from "../../../core/present.ts";
import { ACCOUNT_MODES, type Account } from "../../../core/records/accounts.ts";
import type { Records } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { givenFields } from "../given-fields.ts";
import { recordEndpoints } from "../record-endpoints.ts";
import type { RecordPlan } from "../record-plan.ts";
import { makeWebhookSecret } from "../webhooks/webhook-secrets-resource.ts";

/** Accounts: the customers, each with its own keys, records and messages. A new one gets a webhook secret. */
export function accountEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({ name: givenFields.name, mode }),
      toRecord: ({ name, mode }, stamp) => ({ ...stamp, name, mode }),
      store: (account) => deps.store.records.createAccount(account, makeWebhookSecret(deps.randomBytes)),
    },
    update: {
      schema: Type.Object({ name: Type.Optional(givenFields.name), mode: Type.Optional(mode) }),
      judge({ valid, errors }, current) {
        if (current.mode === "live" && valid.mode === "sandbox") errors.add("mode", STAYS_LIVE);
      },
      toChanges: ({ name, mode }) => present({ name, mode }),
    },
    remove: { usedBy: (account) => usersOf(deps.store.records, account) },
  });
}

const mode = Type.Enum(ACCOUNT_MODES, {
  type: "string",
  description:
    "In a sandbox no message leaves the machine, and nothing needs registration. A sandbox account may become live; a live one stays live",
});

/** What such an account has accepted and not yet sent goes to a provider, up to a week later; out of a sandbox nothing may. */
const STAYS_LIVE = "a live account stays live: create a sandbox account beside it";

const plan: RecordPlan<"accounts"> = {
  kind: "accounts",
  path: "accounts",
  noun: "account",
  operation: "Account",
  idName: "account_id",
  filters: { mode: "mode" },
  filterSchemas: { mode },
  calledBy: { name: "name" },
  shown: Type.Object({ name: Type.String(), mode }),
  show: ({ name, mode }) => ({ name, mode }),
};

/** Records that belong to an account, as sentences call them. */
const BELONGINGS = {
  apiKeys: "API keys",
  smsTemplates: "SMS templates",
  senders: "senders",
  dltEntities: "DLT entities",
  domains: "domains",
  pushApps: "push apps",
  contacts: "contacts",
  routes: "routes",
  suppressions: "suppressions",
  inboundNumbers: "inbound numbers",
  optOuts: "opt-outs",
} as const;

type Belonging = keyof typeof BELONGINGS;

/** What keeps the account from being deleted, in words. */
async function usersOf(records: Records, { id }: Account): Promise<readonly string[]> {
  const users: string[] = [];
  for (const kind of Object.keys(BELONGINGS) as Belonging[]) {
    const found = await records.list<Belonging>(kind, { accountId: id }, { limit: MAX_EXAMINED });
    if (found.some(keepsAccount)) users.push(`its ${BELONGINGS[kind]}`);
  }
  return users.length > 0 ? users : ["its messages"];
}

/** Revoked keys do not: they are deleted with their account. */
function keepsAccount(record: object): boolean {
  return !("revokedAt" in record);
}

/** The most records of a kind that are examined: there may be revoked keys before a record that counts. */
const MAX_EXAMINED = 1000;
