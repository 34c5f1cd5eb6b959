import Type, { type Static } from "typebox";
import { isExactNumber, NOT_EXACT } from "../body/exact-number.ts";
import { createErrors, type ErrorCollector } from "../body/field-errors.ts";
import { isObject } from "../body/is-object.ts";
import { NOT_AN_OBJECT, type Parsed, type Valid, validFields } from "../body/parse-body.ts";
import { isStorable, NOT_STORABLE } from "../body/text-rules.ts";
import { dltIdProblem } from "../dlt/dlt-id.ts";
import {
  addDeliveryOptions,
  type DeliveryOptions,
  deliveryOptionFields,
} from "../messages/delivery-options.ts";
import type { AccountMode } from "../records/accounts.ts";
import { isUuid } from "../uuid.ts";
import type { Writable } from "../writable.ts";
import { EXPECTED_E164, INVALID_PHONE_NUMBER, type PhoneNumber, parsePhoneNumber } from "./phone-number.ts";
import { fitsSourceAddr, NOT_A_SOURCE_ADDR } from "./source-addr.ts";

/** A valid request to send an SMS. The rules that depend on the account's records are checked later. */
export interface SendSms extends DeliveryOptions {
  /** The numbers in the order of the request, with repeats. */
  readonly to: readonly PhoneNumber[];
  /** True when `to` was an array, even of one. */
  readonly isBatch: boolean;
  readonly from?: string;
  /** At least one of the two template ids is there. A UUID in lower case. */
  readonly templateId?: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
  readonly variables?: Readonly<Record<string, string | number>>;
  readonly expireAfterMs?: number;
  readonly isDryRun?: true;
}

const PHONE_DESCRIPTION =
  "E.164 phone number. Indian mobile numbers without country code are normalized to `+91`.";

export const SendSmsBody = Type.Object(
  {
    to: Type.Union(
      [
        Type.String({ minLength: 1, description: PHONE_DESCRIPTION }),
        Type.Array(Type.String({ description: PHONE_DESCRIPTION }), { minItems: 1, maxItems: 1000 }),
      ],
      {
        description: "One recipient, or an array of up to 1,000 for a batch.",
        examples: ["+919876543210", ["+919876543210", "+14155550123"]],
      },
    ),
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20,
        description: "Sender ID or header; must be pre-registered with the SMS provider and the DLT portal.",
        examples: ["ACMECO"],
      }),
    ),
    template_id: Type.Optional(
      Type.String({
        format: "uuid",
        description:
          "UUID of an SMS template of the account. Either `template_id` or `dlt_template_id` is required.",
        examples: ["0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10"],
      }),
    ),
    dlt_template_id: Type.Optional(
      Type.String({
        description: "DLT registered template id; required for sending to Indian numbers.",
        examples: ["1107161234567890123"],
      }),
    ),
    dlt_entity_id: Type.Optional(
      Type.String({
        description: "DLT entity id; required alongside `dlt_template_id` for DLT compliance.",
        examples: ["1101172974420810001"],
      }),
    ),
    variables: Type.Optional(
      Type.Unsafe<Record<string, string | number>>(
        Type.Object(
          {},
          {
            additionalProperties: Type.Union([Type.String(), Type.Number()]),
            maxProperties: 20,
            description:
              'Template variables: keys are numeric strings (`"1"`, `"2"`, …); at most 20. Numbers below 2^53.',
            examples: [{ "1": "Asha", "2": 4821 }],
          },
        ),
      ),
    ),
    expire_after_seconds: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 86_400,
        description: "Time to live in the queue, from when the message is due.",
        examples: [300],
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        description:
          "Answer 200 with what would become of the request: number, segments, encoding, sender, route and the " +
          "verdict of every check. Nothing is stored or sent.",
      }),
    ),
    ...deliveryOptionFields,
  },
  {
    title: "SendSms",
    examples: [
      { to: "+919876543210", dlt_template_id: "1107161234567890123", variables: { "1": "Asha", "2": 4821 } },
    ],
  },
);

/** Parses a body, or returns all problems that can be found without the database. `now`: Unix milliseconds. */
export function parseSendSms(
  body: unknown,
  { mode, now }: { mode: AccountMode; now: number },
): Parsed<SendSms> {
  if (!isObject(body)) return { errors: NOT_AN_OBJECT };
  const { request, errors } = readSendSms(body, { mode, now });
  return errors.isEmpty() ? { value: request } : { errors: errors.list() };
}

/** The valid fields of a body that `parseSendSms` refuses, and all its problems. Invalid numbers are left out. */
export function readSendSms(
  body: Readonly<Record<string, unknown>>,
  { mode, now }: { mode: AccountMode; now: number },
): { readonly request: SendSms; readonly errors: ErrorCollector } {
  const errors = createErrors();
  return { request: toRequest(validFields(SendSmsBody, body, errors), { errors, mode, now }), errors };
}

type ValidSms = Valid<Static<typeof SendSmsBody>>;

interface Judging {
  readonly errors: ErrorCollector;
  readonly mode: AccountMode;
  readonly now: number;
}

function toRequest(valid: ValidSms, judging: Judging): SendSms {
  const { errors } = judging;
  const { from, expire_after_seconds: expireAfterSeconds } = valid;
  const request: Writable<SendSms> = { to: [], isBatch: typeof valid.to !== "string" };
  if (from !== undefined) {
    if (fitsSourceAddr(from)) request.from = from;
    else errors.add("from", NOT_A_SOURCE_ADDR);
  }
  addDeliveryOptions(request, valid, judging);
  addTemplateIds(request, valid, judging);
  if (valid.variables !== undefined) request.variables = parseVariables(valid.variables, errors);
  if (expireAfterSeconds !== undefined) request.expireAfterMs = expireAfterSeconds * 1000;
  if (valid.dry_run) request.isDryRun = true;
  request.to = parseRecipients(valid.to, errors);
  return request;
}

const VARIABLE_NAME = /^[1-9][0-9]*$/;
const ONE_OF_TWO = "either template_id or dlt_template_id is required";

function parseRecipients(to: ValidSms["to"], errors: ErrorCollector): readonly PhoneNumber[] {
  if (to === undefined) return [];
  if (typeof to !== "string") return parseBatch(to, errors);
  const number = parsePhoneNumber(to);
  if (number !== undefined) return [number];
  errors.add("to", to === "" ? "required" : INVALID_PHONE_NUMBER);
  return [];
}

function parseBatch(to: readonly (string | undefined)[], errors: ErrorCollector): readonly PhoneNumber[] {
  const numbers: PhoneNumber[] = [];
  const total = to.length;
  errors.summarise("to", batchSummary);
  for (let index = 0; index < total; index++) {
    const entry = to[index];
    if (entry === undefined) continue;
    const number = parsePhoneNumber(entry);
    if (number !== undefined) numbers.push(number);
    else errors.addEntry("to", { index, total, at: `to.${index}`, reason: INVALID_PHONE_NUMBER });
  }
  return numbers;
}

function batchSummary(bad: number, total: number): string {
  return `invalid phone number in ${bad} of ${total} entries: ${EXPECTED_E164}`;
}

/** Adds the valid template ids, and reports the others. */
function addTemplateIds(
  into: Writable<SendSms>,
  { template_id, dlt_template_id, dlt_entity_id }: ValidSms,
  { errors, mode }: Judging,
): void {
  if (!template_id && !dlt_template_id && !errors.has("template_id") && !errors.has("dlt_template_id")) {
    errors.add("template_id", ONE_OF_TWO);
    errors.add("dlt_template_id", ONE_OF_TWO);
  }
  if (template_id !== undefined) {
    if (isUuid(template_id)) into.templateId = template_id.toLowerCase();
    else errors.add("template_id", "must be a UUID");
  }
  if (dlt_template_id !== undefined) {
    const problem = dltIdProblem(dlt_template_id, mode);
    if (problem === undefined) into.dltTemplateId = dlt_template_id;
    else errors.add("dlt_template_id", problem);
  }
  if (dlt_entity_id !== undefined) {
    const problem = dltIdProblem(dlt_entity_id, mode);
    if (problem === undefined) into.dltEntityId = dlt_entity_id;
    else errors.add("dlt_entity_id", problem);
  }
}

type Variables = NonNullable<SendSms["variables"]>;

function parseVariables(variables: NonNullable<ValidSms["variables"]>, errors: ErrorCollector): Variables {
  for (const name of Object.keys(variables)) {
    const value = variables[name];
    if (!VARIABLE_NAME.test(name)) errors.add("variables", 'keys must be numeric strings: "1", "2", ...');
    else if (typeof value === "string" && !isStorable(value)) errors.add(`variables.${name}`, NOT_STORABLE);
    else if (typeof value === "number" && !isExactNumber(value)) errors.add(`variables.${name}`, NOT_EXACT);
  }
  return variables as Variables;
}
