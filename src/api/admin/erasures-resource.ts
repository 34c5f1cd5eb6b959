import { createHash } from "node:crypto";
import { domainToUnicode } from "node:url";
import Type from "typebox";
import { addressCases } from "../../core/email/address-cases.ts";
import { parseEmailAddress } from "../../core/email/email-address.ts";
import { eachRecord } from "../../core/lists/each-record.ts";
import { type Erasure, lowerAscii } from "../../core/messages/erasure.ts";
import { present } from "../../core/present.ts";
import { parsePhoneNumber } from "../../core/sms/phone-number.ts";
import { addressKey } from "../../core/suppressions/address-key.ts";
import { toIso } from "../../core/time/timestamp.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { notFound, validationFailed } from "../errors.ts";
import { answerPage, pageSchema } from "../lists/answer-page.ts";
import { restorePlus } from "../lists/restore-plus.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { accountNamed, readDraft, sealDraft } from "./draft.ts";
import { ORDERED_PAGE_QUERY, type OrderedPage, readOrderedPage } from "./page.ts";
import { ADMIN_MAX_BYTES, adminOnly, adminPath, bodyOf, MISSING } from "./record-plan.ts";
import { shownFields, shownTime } from "./shown-fields.ts";

/** Erasures by recipient: everything about one number or address is deleted, and a record of that is kept. */
export function erasureEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...adminOnly("erasures"),
      method: "POST",
      path: adminPath("erasures"),
      operation: "createErasure",
      summary: "Erase what is known of a number or an address",
      request: { schema: given, maxBytes: ADMIN_MAX_BYTES },
      responses: {
        202: { description: "The erasure has started; `status` becomes `done` at its end.", schema: shown },
      },
      handle: async (call) => Response.json(toResource(await createErasure(deps, call)), { status: 202 }),
    },
    listErasures(deps),
    {
      ...adminOnly("erasures"),
      method: "GET",
      path: adminPath("erasures/{id}"),
      operation: "getErasure",
      summary: "Show an erasure",
      responses: { 200: { description: "The erasure", schema: shown }, 404: MISSING },
      async handle({ params: { id = "" } }) {
        const erasure = isUuid(id) ? await deps.store.erasures.find(id.toLowerCase()) : undefined;
        if (!erasure) throw notFound();
        return Response.json(toResource(erasure));
      },
    },
  ];
}

function listErasures(deps: AdminDeps): Endpoint {
  const { erasures } = deps.store;
  return {
    ...adminOnly("erasures"),
    method: "GET",
    path: adminPath("erasures"),
    operation: "listErasures",
    summary: "List erasures, of all or of one recipient",
    query: { recipient: Type.Optional(recipient), ...ORDERED_PAGE_QUERY },
    responses: {
      200: {
        description: "In the order they were asked for, the oldest first unless `order` says otherwise",
        schema: pageSchema(shown, "after"),
      },
    },
    handle({ query }) {
      const asked = query.get("recipient");
      const read =
        asked === null
          ? erasures.list
          : (page: OrderedPage) => listByRecipient(deps, readQueriedRecipient(asked), page);
      return answerPage(readOrderedPage(query), read, toResource);
    },
  };
}

const recipient = Type.String({
  minLength: 1,
  maxLength: 254,
  description: "A phone number, or an email address in any case",
});

const given = Type.Object({
  recipient,
  account_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Only in this account; absent: in all" }),
  ),
});

const shown = Type.Object(
  {
    id: shownFields.id,
    account_id: Type.Optional(shownFields.account_id),
    status: Type.String({
      enum: ["running", "incomplete", "done"],
      description: "`incomplete`: something could not be erased, see `passed_over`",
    }),
    digest: Type.String({
      description: "Hex SHA-256 of `salt` and the recipient: all that is kept of the recipient",
    }),
    salt: Type.String(),
    erased: Type.Integer({ description: "Messages that were deleted" }),
    redacted: Type.Integer({ description: "Emails to several recipients that no longer name this one" }),
    passed_over: Type.Optional(
      Type.Integer({
        description:
          "At how many places something could not be erased, a damaged row for example. The rest is erased; these are tried again once an hour",
      }),
    ),
    created_at: shownFields.created_at,
    completed_at: Type.Optional(Type.String({ format: "date-time" })),
  },
  { title: "Erasure" },
);

async function createErasure(deps: AdminDeps, call: Call): Promise<Erasure> {
  const draft = readDraft(given, bodyOf(call));
  const { valid, errors } = draft;
  const recipient = valid.recipient === undefined ? undefined : readRecipient(valid.recipient);
  if (valid.recipient !== undefined && recipient === undefined) errors.add("recipient", NOT_A_RECIPIENT);
  const account = await accountNamed(deps.store.records, valid.account_id, errors);
  sealDraft(draft);
  if (recipient === undefined) throw validationFailed({ recipient: NOT_A_RECIPIENT });
  const salt = Buffer.from(deps.randomBytes(16)).toString("hex");
  return deps.store.erasures.create({
    id: deps.newId(),
    ...present({ accountId: account?.id }),
    recipient,
    salt,
    digest: digestOf(salt, recipient),
    createdAt: call.now,
  });
}

const NOT_A_RECIPIENT = "must be a phone number (E.164) or an email address";

/** The number or address as erasures keep it, addresses in lower case; `undefined` for any other text. */
function readRecipient(text: string): string | undefined {
  const address = parseEmailAddress(text);
  return address === undefined ? parsePhoneNumber(text) : lowerAscii(address);
}

function readQueriedRecipient(text: string): string {
  const recipient = readRecipient(restorePlus(text));
  if (recipient === undefined) throw validationFailed({ recipient: NOT_A_RECIPIENT });
  return recipient;
}

function digestOf(salt: string, recipient: string): string {
  return createHash("sha256")
    .update(salt + recipient)
    .digest("hex");
}

/** Goes through all records: each has its own salt, so none can be looked up by its digest. */
async function listByRecipient(
  { store }: AdminDeps,
  recipient: string,
  { after, limit, order }: OrderedPage,
): Promise<readonly Erasure[]> {
  const found: Erasure[] = [];
  const spellings = spellingsOf(recipient);
  const isMatch = ({ salt, digest }: Erasure) => spellings.some((each) => digestOf(salt, each) === digest);
  for await (const record of eachRecord((page) => store.erasures.list({ ...page, order }), after)) {
    if (isMatch(record) && found.push(record) === limit) break;
  }
  return found;
}

/** The digest is of the recipient as it was given: with other capitals, maybe, and an international domain in either form. */
function spellingsOf(recipient: string): readonly string[] {
  const key = addressKey(recipient);
  const end = key.lastIndexOf("@") + 1;
  const unicode = end === 0 ? key : `${key.slice(0, end)}${domainToUnicode(key.slice(end))}`;
  return [...new Set([recipient, key, unicode].flatMap(addressCases))];
}

function toResource(erasure: Erasure) {
  return {
    id: erasure.id,
    account_id: erasure.accountId,
    status: statusOf(erasure),
    digest: erasure.digest,
    salt: erasure.salt,
    erased: erasure.erased,
    redacted: erasure.redacted,
    passed_over: erasure.passedOver,
    created_at: toIso(erasure.createdAt),
    completed_at: shownTime(erasure.completedAt),
  };
}

function statusOf({ completedAt, passedOver }: Erasure): "running" | "incomplete" | "done" {
  if (completedAt !== undefined) return "done";
  return passedOver === undefined ? "running" : "incomplete";
}
