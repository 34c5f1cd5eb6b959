/** Register Device and Identify User: called by apps and browsers, without a key. */
import { createErrors, type FieldErrors } from "../core/body/field-errors.ts";
import type { Idempotency } from "../core/messages/accept-request.ts";
import { addressBlock } from "../core/network/address-block.ts";
import {
  accountIdOf,
  IdentifyUserBody,
  MAX_ID_LENGTH,
  parseIdentifyUser,
  parseRegisterDevice,
  type RegisterDevice,
  RegisterDeviceBody,
} from "../core/push/push-device.ts";
import { ID_MARKS, type PushAnswer } from "../core/push/push-registration.ts";
import type { Account, PushApp } from "../core/records/accounts.ts";
import { toStoredId } from "../core/uuid.ts";
import type { Store } from "../store/store.ts";
import type { Answered } from "./answer.ts";
import type { Call, Endpoint } from "./endpoint.ts";
import { contactNotFound, validationFailed } from "./errors.ts";
import { idempotencyOf, replayed } from "./idempotency.ts";
import { pushLimit } from "./limits/account-limits.ts";
import { countRequest } from "./limits/count-request.ts";
import type { RateLimiter } from "./limits/rate-limit.ts";
import { IdentificationResult, identifiedJson, Registration, registeredJson } from "./push-resource.ts";
import type { Directory } from "./records/directory.ts";

export interface PushDeps {
  readonly store: Pick<Store, "push">;
  readonly directory: Directory;
  readonly limiter: RateLimiter;
  readonly ids: () => string;
}

const MAX_BODY_BYTES = 1024 * 1024;

export function pushEndpoints(deps: PushDeps): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v1/push/register",
      operation: "registerDevice",
      summary: "Register a device push token",
      tag: "Push",
      auth: "none",
      cors: true,
      idempotent: true,
      request: { schema: RegisterDeviceBody, maxBytes: MAX_BODY_BYTES },
      responses: { 201: { description: "Registered.", schema: Registration } },
      handle: (call) => registerDevice(deps, call),
    },
    {
      method: "POST",
      path: "/v1/push/identify",
      operation: "identifyUser",
      summary: "Link a device to an identified user",
      tag: "Push",
      auth: "none",
      cors: true,
      idempotent: true,
      request: { schema: IdentifyUserBody, maxBytes: MAX_BODY_BYTES },
      responses: {
        200: { description: "Linked.", schema: IdentificationResult },
        404: { description: "`contact not found`: unknown account, device, contact or external id." },
      },
      handle: (call) => identifyUser(deps, call),
    },
  ];
}

async function registerDevice(deps: PushDeps, call: Call): Promise<Answered> {
  const account = await admit(deps, call);
  const judged = await judgeDevice(deps.directory, account, call.body?.json);
  if ("errors" in judged) throw validationFailed(judged.errors);
  const idempotency = idempotencyOf(call);
  const registrationId = deps.ids();
  const contactId = deps.ids();
  const answer = { status: 201, body: registeredJson(ID_MARKS) };
  const device = { ...judged.value, registrationId, contactId, now: call.now, answer };
  const result = await deps.store.push.register(device, idempotency);
  // It was there a moment ago: the directory remembers for a second.
  if (result.kind === "app_not_found") throw validationFailed({ app_id: UNKNOWN_APP });
  return toAnswered(result, idempotency, call);
}

async function identifyUser(deps: PushDeps, call: Call): Promise<Answered> {
  await admit(deps, call);
  const parsed = parseIdentifyUser(call.body?.json);
  if ("errors" in parsed) throw validationFailed(parsed.errors);
  const idempotency = idempotencyOf(call);
  const answer = { status: 200, body: identifiedJson(ID_MARKS.contactId) };
  const result = await deps.store.push.identify({ ...parsed.value, now: call.now, answer }, idempotency);
  if (result.kind === "contact_not_found") throw contactNotFound();
  return toAnswered(result, idempotency, call);
}

/** Counts the request against its client's rate limit, and returns the account that it names, if it exists. */
async function admit({ directory, limiter }: PushDeps, call: Call): Promise<Account | undefined> {
  const accountId = accountIdOf(call.body?.json);
  const isPlausible = accountId !== undefined && accountId.length <= MAX_ID_LENGTH;
  const account = isPlausible ? await directory.account(accountId) : undefined;
  const limit = pushLimit(await directory.settings(account?.id));
  const key = `push ${addressBlock(call.clientAddress)} ${account?.id ?? ""}`;
  if (limit) countRequest(limiter, { key, limit });
  return account;
}

type Judged = { readonly value: RegisterDevice } | { readonly errors: FieldErrors };

/** Judges the body and what it names, and reports every problem at once. */
async function judgeDevice(
  directory: Directory,
  account: Account | undefined,
  json: unknown,
): Promise<Judged> {
  const parsed = parseRegisterDevice(json, { mode: account?.mode });
  const { account_id: accountId, app_id: appId, platform } = (json ?? {}) as Record<string, unknown>;
  const errors = createErrors();
  if (isText(accountId) && !account) errors.add("account_id", "unknown account");
  if (account && isText(appId)) {
    const isPlausible = appId.length <= MAX_ID_LENGTH;
    const app = isPlausible ? await directory.pushApp(account.id, toStoredId(appId)) : undefined;
    const problem = app ? platformProblem(app, account, platform) : undefined;
    if (!app) errors.add("app_id", UNKNOWN_APP);
    if (problem !== undefined) errors.add("platform", problem);
  }
  if (errors.isEmpty()) return parsed;
  return { errors: { ...errors.list(), ...("errors" in parsed ? parsed.errors : {}) } };
}

const UNKNOWN_APP = "unknown push app";

/** In a sandbox account every platform is allowed. */
function platformProblem(app: PushApp, account: Account, platform: unknown): string | undefined {
  if (account.mode === "sandbox" || !isText(platform)) return undefined;
  return app.platforms.some((one) => one === platform)
    ? undefined
    : "the push app does not have this platform";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function toAnswered(
  { kind, answer }: PushAnswer,
  idempotency: Idempotency | undefined,
  call: Call,
): Answered {
  if (kind === "replay") return replayed(answer, idempotency, call);
  return { status: answer.status, json: answer.body };
}
