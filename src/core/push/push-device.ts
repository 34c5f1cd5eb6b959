import Type from "typebox";
import type { ErrorCollector } from "../body/field-errors.ts";
import { isObject } from "../body/is-object.ts";
import { type Parsed, parseBody } from "../body/parse-body.ts";
import { isStorable, NOT_STORABLE } from "../body/text-rules.ts";
import { present } from "../present.ts";
import { type AccountMode, PUSH_PLATFORMS, type PushPlatform } from "../records/accounts.ts";
import { toStoredId } from "../uuid.ts";
import { deviceTokenProblem } from "./push-token.ts";

export interface RegisterDevice {
  readonly accountId: string;
  readonly appId: string;
  readonly platform: PushPlatform;
  /** As sent; in a live account the hex of an APNs token is lower-cased. */
  readonly token: string;
  readonly deviceId?: string;
  readonly osVersion?: string;
  readonly appVersion?: string;
  readonly locale?: string;
  readonly timezone?: string;
}

/** At least one of `contactId` and `externalId` is there. With both, the contact id is looked up, and the external id must match. */
export interface IdentifyUser {
  readonly accountId: string;
  readonly deviceId: string;
  readonly contactId?: string;
  readonly externalId?: string;
}

/** No id is longer. */
export const MAX_ID_LENGTH = 64;

const attribute = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 64, description, examples: [example] }));

const identifier = (description: string, maxLength: number) =>
  Type.String({ minLength: 1, maxLength, description });

/** An id to look up. One that is longer than any id is an unknown one, which is answered otherwise than an invalid one. */
const lookedUp = (description: string) => Type.String({ minLength: 1, description });

export const RegisterDeviceBody = Type.Object(
  {
    account_id: identifier("Account identifier.", MAX_ID_LENGTH),
    app_id: identifier("Push app id.", MAX_ID_LENGTH),
    platform: Type.Enum(PUSH_PLATFORMS, {
      description: "`apns` (iOS), `fcm` (Android and web through Firebase) or `web` (Web Push).",
    }),
    token: identifier("Device push token from the platform SDK; for `web` the subscription as JSON.", 4096),
    device_id: Type.Optional(
      identifier("For deduplication, and for linking an anonymous device to an identified user.", 256),
    ),
    os_version: attribute("Operating system version.", "17.4"),
    app_version: attribute("Application version.", "2.8.0"),
    locale: attribute("Device locale.", "en-IN"),
    timezone: attribute("Device timezone, IANA name.", "Asia/Kolkata"),
  },
  {
    title: "RegisterDevice",
    examples: [
      {
        account_id: "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10",
        app_id: "0190a5c4-7b1e-7c3a-9f00-3c9e6f7a8b21",
        platform: "fcm",
        token: "cXyzAbC123:APA91bExampleOfARegistrationToken",
        device_id: "5f2c9b1e-device",
        locale: "en-IN",
        timezone: "Asia/Kolkata",
      },
    ],
  },
);

export const IdentifyUserBody = Type.Object(
  {
    account_id: lookedUp("Account identifier."),
    device_id: lookedUp("Device id used at registration."),
    contact_id: Type.Optional(
      Type.String({
        description: "Contact id of the identified user. Either `contact_id` or `external_id` is required.",
      }),
    ),
    external_id: Type.Optional(
      Type.String({ description: "The application's own user id, to look up the contact." }),
    ),
  },
  {
    title: "IdentifyUser",
    examples: [
      {
        account_id: "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10",
        device_id: "5f2c9b1e-device",
        external_id: "user-4821",
      },
    ],
  },
);

/**
 * Judges everything about the body that needs no database. `mode`: that of the account that the body names (`accountIdOf`);
 * `undefined` if there is no such account, and then the token's shape is not judged.
 */
export function parseRegisterDevice(
  body: unknown,
  { mode }: { mode: AccountMode | undefined },
): Parsed<RegisterDevice> {
  return parseBody(RegisterDeviceBody, body, (valid, errors) => {
    judgeTexts(REGISTER_FIELDS, { valid, errors });
    const { account_id = "", app_id = "", platform = "apns", token = "" } = valid;
    const isJudged = mode === "live" && valid.platform !== undefined && valid.token !== undefined;
    const problem = isJudged ? deviceTokenProblem(platform, token) : undefined;
    if (problem !== undefined) errors.add("token", problem);
    return {
      accountId: toStoredId(account_id),
      appId: toStoredId(app_id),
      platform,
      token: mode === "live" && platform === "apns" ? token.toLowerCase() : token,
      ...present({
        deviceId: valid.device_id,
        osVersion: valid.os_version,
        appVersion: valid.app_version,
        locale: valid.locale,
        timezone: valid.timezone,
      }),
    };
  });
}

export function parseIdentifyUser(body: unknown): Parsed<IdentifyUser> {
  return parseBody(IdentifyUserBody, body, (valid, errors) => {
    judgeTexts(IDENTIFY_FIELDS, { valid, errors });
    // An empty id counts as absent.
    const contactId = valid.contact_id ? toStoredId(valid.contact_id) : undefined;
    const externalId = valid.external_id || undefined;
    const isOneRefused = errors.has("contact_id") || errors.has("external_id");
    if (contactId === undefined && externalId === undefined && !isOneRefused) {
      errors.add("contact_id", ONE_OF_TWO);
      errors.add("external_id", ONE_OF_TWO);
    }
    const { account_id = "", device_id = "" } = valid;
    return { accountId: toStoredId(account_id), deviceId: device_id, ...present({ contactId, externalId }) };
  });
}

/** The account that a push body names. It is read before the body is judged, because the account's mode decides on the rules. */
export function accountIdOf(body: unknown): string | undefined {
  const accountId = isObject(body) ? body.account_id : undefined;
  return typeof accountId === "string" ? toStoredId(accountId) : undefined;
}

const ONE_OF_TWO = "either contact_id or external_id is required";

/** Reports each field that cannot be stored. All fields of both bodies are strings. */
function judgeTexts(
  names: readonly string[],
  { valid, errors }: { valid: Readonly<Record<string, string | undefined>>; errors: ErrorCollector },
): void {
  for (const name of names) {
    const text = valid[name];
    if (text !== undefined && !isStorable(text)) errors.add(name, NOT_STORABLE);
  }
}

const REGISTER_FIELDS = Object.keys(RegisterDeviceBody.properties);
const IDENTIFY_FIELDS = Object.keys(IdentifyUserBody.properties);
