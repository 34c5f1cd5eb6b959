import Type from "typebox";
import { isStorable, NOT_STORABLE } from "../../../core/body/text-rules.ts";
import { unknownName } from "../../../core/body/unknown-name.ts";
import { parseEmailAddress } from "../../../core/email/email-address.ts";
import { isErased } from "../../../core/messages/erasure.ts";
import { present } from "../../../core/present.ts";
import type { Suppression } from "../../../core/records/accounts.ts";
import { isSuppressionReason } from "../../../core/suppressions/suppression.ts";
import { NOT_A_TIMESTAMP, parseTimestamp } from "../../../core/time/timestamp.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountNamed, noSuchAccount, readDraft, sealDraft } from "../draft.ts";
import { givenFields } from "../given-fields.ts";
import { ADMIN_MAX_BYTES, adminOnly, adminPath, bodyOf, shownNames } from "../record-plan.ts";
import { suppressionPlan } from "./suppressions-resource.ts";

const MAX_ENTRIES = 1_000;

/** The most characters of a source, as in a suppression made by hand. */
const MAX_SOURCE = 255;

/** No maximum length in the schema: an entry that is too long is refused by itself, and the others are added. */
const text = Type.Optional(Type.String());

const address = Type.String({
  description:
    "Or the `digest` of an entry whose recipient was erased: it means something to its own instance only",
});

const ImportBody = Type.Object({
  account_id: givenFields.account_id,
  entries: Type.Array(Type.Object({ email: address, reason: text, source: text, expires_at: text }), {
    minItems: 1,
    maxItems: MAX_ENTRIES,
  }),
});

const ImportReport = Type.Object({
  added: Type.Integer({ description: "New entries, and entries that now end later" }),
  kept: Type.Integer({ description: "Entries that were on the list already, for at least as long" }),
  refused: Type.Array(
    Type.Object({ index: Type.Integer({ description: "Of the entry, from 0" }), reason: Type.String() }),
  ),
});

/** Imports a suppression list into an account. Good entries are added even if others are refused. */
export function suppressionImportEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...adminOnly("suppressions"),
      method: "POST",
      path: adminPath("suppressions/import"),
      operation: "importSuppressions",
      summary: `Add up to ${MAX_ENTRIES.toLocaleString("en")} suppressions at once`,
      request: { schema: ImportBody, maxBytes: ADMIN_MAX_BYTES },
      responses: { 200: { description: "The result by entry", schema: ImportReport } },
      async handle(call) {
        const draft = readDraft(ImportBody, bodyOf(call), { listed: "entries" });
        const account = await accountNamed(deps.store.records, draft.valid.account_id, draft.errors);
        const { entries } = sealDraft(draft);
        const accountId = account?.id ?? "";
        const read = entries.map((entry) =>
          toSuppression(entry, { accountId, now: call.now, id: deps.newId }),
        );
        const good = read.filter((each) => typeof each !== "string");
        const added = await deps.store.suppressions.add(good);
        // Since it was found it may have been deleted.
        if (added === undefined) throw noSuchAccount();
        return Response.json({ added, kept: good.length - added, refused: refusedIn(read) });
      },
    },
  ];
}

interface Entry {
  readonly email: string;
  readonly reason?: string;
  readonly source?: string;
  readonly expires_at?: string;
}

const FIELDS = ["email", "reason", "source", "expires_at"] as const satisfies readonly (keyof Entry)[];

/** Entries may be those of a list that was read: whoever sends them means nothing by their other fields. */
const KNOWN: ReadonlySet<string> = new Set([...FIELDS, ...shownNames(suppressionPlan)]);

interface Import {
  readonly accountId: string;
  readonly now: number;
  readonly id: () => string;
}

/** The suppression, or a sentence that says what is wrong with the entry. */
function toSuppression(entry: Entry, { accountId, now, id }: Import): Suppression | string {
  const unknown = Object.keys(entry).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `${unknown.slice(0, 40)}: ${unknownName(unknown, FIELDS)}`;
  const unstorable = FIELDS.find((name) => !isStorable(entry[name] ?? ""));
  if (unstorable) return `${unstorable} ${NOT_STORABLE}`;
  const { reason = "manual" } = entry;
  const written = entry.email.trim();
  const email = isErased(written) ? written : parseEmailAddress(written);
  if (!email) return "not an email address";
  if (!isSuppressionReason(reason)) return `no such reason: ${reason.slice(0, 40)}`;
  const expiresAt = entry.expires_at === undefined ? undefined : parseTimestamp(entry.expires_at);
  if (entry.expires_at !== undefined && expiresAt === undefined) return `expires_at ${NOT_A_TIMESTAMP}`;
  const source = entry.source || "import";
  if (source.length > MAX_SOURCE) return `source is longer than ${MAX_SOURCE} characters`;
  return {
    id: id(),
    accountId,
    email: email.toLowerCase(),
    reason,
    source,
    createdAt: now,
    ...present({ expiresAt }),
  };
}

function refusedIn(read: readonly (Suppression | string)[]) {
  return read.flatMap((each, index) => (typeof each === "string" ? [{ index, reason: each }] : []));
}
