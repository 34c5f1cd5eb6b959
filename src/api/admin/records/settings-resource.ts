import Type, { type TSchema } from "typebox";
import { isExactNumber, NOT_EXACT } from "../../../core/body/exact-number.ts";
import { createErrors } from "../../../core/body/field-errors.ts";
import type { Account } from "../../../core/records/accounts.ts";
import {
  isSettingName,
  SETTINGS,
  type Setting,
  type SettingName,
  type StoredSettings,
  settingProblem,
} from "../../../core/records/settings.ts";
import type { Call, Endpoint } from "../../endpoint.ts";
import { notFound, validationFailed } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountNamed, noSuchAccount } from "../draft.ts";
import { ADMIN_MAX_BYTES, adminOnly, adminPath, bodyOf } from "../record-plan.ts";
import { unknownFields } from "../unknown-fields.ts";

/** Settings of the instance, or with `?account_id=` of one account, whose own override the instance's. */
export function settingEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [...allSettings(deps), ...oneSetting(deps)];
}

function allSettings(deps: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...shared,
      method: "GET",
      path: adminPath("settings"),
      operation: "listSettings",
      summary: "List all settings with their values, defaults and meaning",
      responses: { 200: { description: "All", schema: list } },
      handle: async (call) => answerAll(deps, await accountOf(deps, call)),
    },
    {
      ...shared,
      method: "PUT",
      path: adminPath("settings"),
      operation: "setSettings",
      summary: "Set the settings in the body; null resets one to its default. Others are not changed",
      request: { schema: Type.Object({}, { additionalProperties: value }), maxBytes: ADMIN_MAX_BYTES },
      responses: { 200: { description: "All settings after the change", schema: list } },
      async handle(call) {
        const account = await accountOf(deps, call);
        await setAll(deps, account, { given: bodyOf(call), fieldOf: (name) => name });
        return answerAll(deps, account);
      },
    },
  ];
}

function oneSetting(deps: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...shared,
      method: "GET",
      path: adminPath("settings/{name}"),
      operation: "getSetting",
      summary: "Show a setting",
      responses: { 200: { description: "The setting", schema: shown }, 404: UNKNOWN },
      handle: async (call) => answerOne(deps, await accountOf(deps, call), nameOf(call)),
    },
    {
      ...shared,
      method: "PUT",
      path: adminPath("settings/{name}"),
      operation: "setSetting",
      summary: "Set a setting; null resets it to its default",
      request: { schema: oneValue, maxBytes: ADMIN_MAX_BYTES },
      responses: { 200: { description: "The setting after the change", schema: shown }, 404: UNKNOWN },
      async handle(call) {
        const name = nameOf(call);
        const account = await accountOf(deps, call);
        const body = bodyOf(call);
        // Ignored, it would set the whole instance instead.
        if (body.account_id !== undefined) throw validationFailed({ account_id: IN_QUERY });
        const unknown = unknownFields(oneValue, body);
        if (Object.keys(unknown).length > 0) throw validationFailed(unknown);
        if (body.value === undefined) throw validationFailed({ value: "required" });
        await setAll(deps, account, { given: { [name]: body.value }, fieldOf: () => "value" });
        return answerOne(deps, account, name);
      },
    },
  ];
}

const shared = {
  ...adminOnly("settings"),
  query: { account_id: Type.Optional(Type.String({ description: "Absent: the instance" })) },
} as const satisfies Pick<Endpoint, "auth" | "tag" | "query">;

const IN_QUERY = "belongs in the query: ?account_id=…";

const UNKNOWN = { description: "There is no such setting" };

const plainValue: readonly TSchema[] = [Type.String(), Type.Number(), Type.Boolean()];
const value = Type.Union([...plainValue, Type.Null()]);
const oneValue = Type.Object({ value });

const shown = Type.Object(
  {
    name: Type.String(),
    value: Type.Optional(Type.Union([...plainValue], { description: "The value in force; absent: not set" })),
    default: Type.Optional(Type.Union([...plainValue])),
    set_by: Type.Enum(["account", "instance", "default"]),
    scope: Type.Enum(["account", "instance"], { description: "`account`: an account may have its own" }),
    expected: Type.String(),
    description: Type.String(),
  },
  { title: "Setting" },
);

const list = Type.Object({ data: Type.Array(shown) });

function nameOf({ params }: Call): SettingName {
  const { name = "" } = params;
  if (!isSettingName(name)) throw notFound();
  return name;
}

async function accountOf(deps: AdminDeps, { query }: Call): Promise<Account | undefined> {
  const errors = createErrors();
  const account = await accountNamed(deps.store.records, query.get("account_id") ?? undefined, errors);
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return account;
}

interface GivenSettings {
  /** Values by setting; `null` goes back to the default. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The field under which a problem of a setting is reported. */
  readonly fieldOf: (name: string) => string;
}

async function setAll(
  { store, onConfigChanged }: AdminDeps,
  account: Account | undefined,
  { given, fieldOf }: GivenSettings,
): Promise<void> {
  const errors = createErrors();
  const texts: Record<string, string | undefined> = {};
  // There are not that many settings: the rest of such a body is no better, and each problem names all that there are.
  for (const [name, wanted] of Object.entries(given).slice(0, MOST_AT_ONCE)) {
    const problem = problemOf(name, wanted, account !== undefined);
    if (problem === undefined) texts[name] = wanted === null ? undefined : String(wanted);
    else errors.add(fieldOf(name.slice(0, 64)), problem);
  }
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  if (Object.keys(texts).length === 0) return;
  // Since it was found it may have been deleted.
  if (!(await store.records.setSettings(account?.id, texts))) throw noSuchAccount();
  await onConfigChanged();
}

const MOST_AT_ONCE = 100;

function problemOf(name: string, given: unknown, forAccount: boolean): string | undefined {
  if (given === null)
    return isSettingName(name) ? undefined : settingProblem(name, { value: "", forAccount });
  // A DLT entity id has 19 digits: written as a number, it would be stored as another one.
  if (typeof given === "number" && !isExactNumber(given)) return NOT_EXACT;
  const isPlain = ["string", "number", "boolean"].includes(typeof given);
  return isPlain
    ? settingProblem(name, { value: String(given), forAccount })
    : "must be text, a number, true or false";
}

async function answerAll(deps: AdminDeps, account: Account | undefined): Promise<Response> {
  const stored = await readStored(deps, account);
  const names = Object.keys(SETTINGS).filter(isSettingName);
  return Response.json({ data: names.map((name) => toResource(name, stored)) });
}

async function answerOne(
  deps: AdminDeps,
  account: Account | undefined,
  name: SettingName,
): Promise<Response> {
  return Response.json(toResource(name, await readStored(deps, account)));
}

interface Stored {
  readonly instance: StoredSettings;
  readonly account: StoredSettings;
}

async function readStored({ store }: AdminDeps, account: Account | undefined): Promise<Stored> {
  const instance = await store.records.settings(undefined);
  return { instance, account: account ? await store.records.settings(account.id) : {} };
}

/** The value in force. Of a secret it is shown only that it is set. */
function shownValue(setting: Setting<unknown>, text: string | undefined): unknown {
  if (setting.isSecret) return text === undefined ? undefined : "(set)";
  return (text === undefined ? undefined : setting.parse(text)) ?? setting.default;
}

function toResource(name: SettingName, stored: Stored) {
  const setting: Setting<unknown> = SETTINGS[name];
  const text = stored.account[name] ?? stored.instance[name];
  const setBy = stored.instance[name] === undefined ? "default" : "instance";
  return {
    name,
    value: shownValue(setting, text),
    default: setting.default,
    set_by: stored.account[name] === undefined ? setBy : "account",
    scope: setting.scope,
    expected: setting.expected,
    description: setting.description,
  };
}
