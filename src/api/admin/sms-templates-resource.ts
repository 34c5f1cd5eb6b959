import Type, { type Static, type TObject } from "typebox";
import { dltIdProblem } from "../../core/dlt/dlt-id.ts";
import { present } from "../../core/present.ts";
import type { AccountMode, SmsTemplate } from "../../core/records/accounts.ts";
import { readSetting } from "../../core/records/settings.ts";
import { SMS_CATEGORIES } from "../../core/sms/sms-category.ts";
import { SMS_ENCODINGS } from "../../core/sms/sms-segments.ts";
import {
  PLACEHOLDER_KINDS,
  renderTemplate,
  templatePlaceholders,
  templateText,
} from "../../core/sms/template.ts";
import { charactersOutsideGsm7, MAX_FORCING_NAMED, transliterate } from "../../core/sms/transliterate.ts";
import type { Records } from "../../store/store.ts";
import type { Endpoint } from "../endpoint.ts";
import { conflict } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { type Draft, judgeField } from "./draft.ts";
import { givenFields } from "./given-fields.ts";
import { recordEndpoints } from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { senderIdProblem } from "./senders-resource.ts";
import { shownFields } from "./shown-fields.ts";

/** SMS templates: the texts that an account may send, with the DLT ids they are registered under. */
export function smsTemplateEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const plan = planOf(deps.store.records);
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({ account_id: givenFields.account_id, name: givenFields.name, body, ...optional }),
      judge: (draft, account) => judge(draft, account?.mode),
      async toRecord(given, stamp) {
        const template: SmsTemplate = present({
          ...stamp,
          name: given.name,
          body: given.body,
          ...toFields(given),
        });
        await refuseTwin(deps.store.records, template);
        return template;
      },
    },
    update: {
      schema: changes,
      clearable: OPTIONAL_FIELDS,
      judge: (draft, _current, account) => judge(draft, account?.mode),
      async toChanges(given, current) {
        await refuseTwin(deps.store.records, { ...current, dltTemplateId: given.dlt_template_id });
        return present({
          name: given.name,
          body: given.body,
          ...toFields(given),
        });
      },
    },
  });
}

const MAX_VARIABLES = 20;

/** The most characters of a template: those of 255 segments, with room for placeholders. */
const MAX_BODY = 40_000;

const body = Type.String({
  minLength: 1,
  maxLength: MAX_BODY,
  description:
    "Text with placeholders: `{#var#}` and its tagged forms, filled in order, or `{{1}}`, by number",
});

const optional = {
  dlt_template_id: givenFields.dlt_template_id,
  dlt_entity_id: givenFields.dlt_entity_id,
  from: Type.Optional(
    Type.String({ minLength: 1, maxLength: 15, description: "Sender id used when a request names none" }),
  ),
  category: Type.Optional(
    Type.Enum(SMS_CATEGORIES, {
      type: "string",
      description:
        "As registered on the DLT portal; `promotional` goes to Indian numbers in the daytime only",
    }),
  ),
  variable_tags: Type.Optional(
    Type.Array(Type.Enum(PLACEHOLDER_KINDS, { type: "string" }), {
      maxItems: MAX_VARIABLES,
      description:
        "The portal's tags for the `{#var#}` placeholders of the body, in order, if it does not write them in the body",
    }),
  ),
  linked_headers: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 16 }), {
      maxItems: 1000,
      description: "Sender ids the portal has linked to the template; absent: not known",
    }),
  ),
  status: givenFields.status,
};

const changes = Type.Object({
  name: Type.Optional(givenFields.name),
  body: Type.Optional(body),
  ...optional,
});

/** The optional fields, and their names in the record. */
const OPTIONAL_FIELDS = {
  dlt_template_id: "dltTemplateId",
  dlt_entity_id: "dltEntityId",
  from: "from",
  category: "category",
  variable_tags: "variableTags",
  linked_headers: "linkedHeaders",
  status: "status",
} as const satisfies Record<keyof typeof optional, keyof SmsTemplate>;

type OptionalFields = Pick<SmsTemplate, (typeof OPTIONAL_FIELDS)[keyof typeof OPTIONAL_FIELDS]>;

function toFields(given: Static<TObject<typeof optional>>): OptionalFields {
  return present({
    dltTemplateId: given.dlt_template_id,
    dltEntityId: given.dlt_entity_id,
    from: given.from,
    category: given.category,
    variableTags: given.variable_tags,
    linkedHeaders: given.linked_headers,
    status: given.status,
  });
}

const OF_BODY = "follows from the body";

const planOf = (records: Records): RecordPlan<"smsTemplates"> => ({
  kind: "smsTemplates",
  path: "sms-templates",
  noun: "SMS template",
  operation: "SmsTemplate",
  idName: "template_id",
  filters: { account_id: "accountId" },
  calledBy: { name: "name", dlt_template_id: "dltTemplateId" },
  shown: Type.Object({
    account_id: shownFields.account_id,
    name: Type.String(),
    body: Type.String(),
    placeholders: Type.Array(Type.Object({ name: Type.String(), kind: Type.String() }), {
      description: "The variables of the body and their kinds",
    }),
    encoding: Type.Enum(SMS_ENCODINGS, {
      description:
        "Alphabet the text goes out in, as long as no variable needs more: `ucs2` halves what fits",
    }),
    forces_ucs2: Type.Array(Type.String(), {
      description: `The characters that GSM-7 does not have, ${MAX_FORCING_NAMED} at the most`,
    }),
    ...optional,
  }),
  instead: { placeholders: OF_BODY, encoding: OF_BODY, forces_ucs2: OF_BODY },
  show: async (template) => toResource(template, await isTransliterated(records, template.accountId)),
});

async function isTransliterated(records: Records, accountId: string): Promise<boolean> {
  const settings = { ...(await records.settings(undefined)), ...(await records.settings(accountId)) };
  return readSetting(settings, "sms_transliterate");
}

function toResource(template: SmsTemplate, isTransliterated: boolean) {
  const text = templateText(template.body);
  // A registered text goes out as it is registered.
  const isPlain = isTransliterated && template.dltTemplateId === undefined;
  const wide = charactersOutsideGsm7(isPlain ? transliterate(text) : text);
  return {
    account_id: template.accountId,
    name: template.name,
    body: template.body,
    placeholders: templatePlaceholders(template.body),
    encoding: wide.length > 0 ? "ucs2" : "gsm7",
    forces_ucs2: wide.slice(0, MAX_FORCING_NAMED),
    dlt_template_id: template.dltTemplateId,
    dlt_entity_id: template.dltEntityId,
    from: template.from,
    category: template.category,
    variable_tags: template.variableTags,
    linked_headers: template.linkedHeaders,
    status: template.status,
  };
}

function judge(draft: Draft<typeof changes>, mode: AccountMode | undefined): void {
  for (const field of ["dlt_template_id", "dlt_entity_id"] as const)
    judgeField(draft, field, (id) => mode && dltIdProblem(id, mode));
  judgeField(draft, "from", senderIdProblem);
  judgeField(draft, "body", bodyProblem);
}

/** Why a text cannot be the body of a template; `undefined` if it can. */
export function bodyProblem(text: string): string | undefined {
  if (text.length > MAX_BODY) return `must be at most ${MAX_BODY} characters`;
  const names = new Set(templatePlaceholders(text).map(({ name }) => name));
  if (names.size > MAX_VARIABLES) {
    return `asks for ${names.size} variables, and a message has at most ${MAX_VARIABLES}`;
  }
  const filled = renderTemplate(text, Object.fromEntries([...names].map((name) => [name, ""])));
  if (!("text" in filled)) return undefined;
  const [unknown] = UNKNOWN_PLACEHOLDER.exec(filled.text) ?? [];
  return unknown === undefined ? undefined : `has an unknown placeholder ${unknown}: write {#var#} or {{1}}`;
}

/** Braces that are left in a filled text: they would reach the handset as they are. */
const UNKNOWN_PLACEHOLDER = /\{\{[^{}]{0,30}\}\}|\{#[^{}#]{0,30}#?\}?/;

/** Requests may name a template by its DLT id, so each may belong to one template only. */
async function refuseTwin(
  records: Records,
  { id, accountId, dltTemplateId }: { id: string; accountId: string; dltTemplateId?: string | undefined },
): Promise<void> {
  if (dltTemplateId === undefined) return;
  const twins = await records.list("smsTemplates", { accountId, dltTemplateId }, { limit: 2 });
  const twin = twins.find((each) => each.id !== id);
  if (twin) throw conflict({ dlt_template_id: `taken by the template ${twin.id} (${twin.name})` });
}
