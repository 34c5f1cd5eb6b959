/**
 * A body on its way to becoming a record: read by its schema, then judged further (against the store too), with
 * every problem kept until the end so that all are reported at once.
 */
import type { Static, TObject } from "typebox";
import { isExactNumber, NOT_EXACT } from "../../core/body/exact-number.ts";
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import { type Valid, validFields } from "../../core/body/parse-body.ts";
import { isStorable, NOT_STORABLE } from "../../core/body/text-rules.ts";
import type { ChannelName } from "../../core/messages/message.ts";
import type { Account, Connector } from "../../core/records/accounts.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Records } from "../../store/store.ts";
import { validationFailed } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { unknownFields } from "./unknown-fields.ts";

export interface Draft<S extends TObject> {
  /** The fields that the schema accepts. */
  readonly valid: Valid<Static<S>>;
  readonly errors: ErrorCollector;
}

export interface Reading<S extends TObject> {
  /** The field whose entries the caller judges one by one; neither their texts nor their names are checked here. */
  readonly listed?: string & keyof Static<S>;
  /** Fields that answers have: whoever sends back what was read, with a change in it, means nothing by them. */
  readonly shown?: readonly string[];
}

/** This API is for operators: a field that it does not know is misspelt, or of another version. Ignored, it would do nothing, or be done to all. */
export function readDraft<S extends TObject>(
  schema: S,
  body: Readonly<Record<string, unknown>>,
  { listed, shown = [] }: Reading<S> = {},
): Draft<S> {
  const errors = createErrors();
  const isOurs = (name: string) => Object.hasOwn(schema.properties, name) || !shown.includes(name);
  const named = Object.entries(body).filter(([name]) => name !== listed && isOurs(name));
  for (const [field, reason] of Object.entries(unknownFields(schema, Object.fromEntries(named))))
    errors.add(field, reason);
  const valid = validFields(schema, body, errors);
  const whole = Object.entries(valid).filter(([name]) => name !== listed);
  refuseUnstorable(Object.fromEntries(whole), "", errors);
  return { valid, errors };
}

/** The whole body if nothing is wrong with it; otherwise refuses with every problem. */
export function sealDraft<S extends TObject>(draft: Draft<S>): Static<S> {
  if (!draft.errors.isEmpty()) throw validationFailed(draft.errors.list());
  return draft.valid as Static<S>;
}

/** Judges a field if the draft has it. `problemOf` says what is wrong with its value, in words. */
export function judgeField<V extends object, Name extends keyof V & string>(
  { valid, errors }: { readonly valid: V; readonly errors: Pick<ErrorCollector, "add"> },
  name: Name,
  problemOf: (value: Exclude<V[Name], undefined>) => string | undefined,
): void {
  const value = valid[name];
  const problem = value === undefined ? undefined : problemOf(value as Exclude<V[Name], undefined>);
  if (problem !== undefined) errors.add(name, problem);
}

/** The account that a body or a query names; if there is none, notes that under `account_id`. */
export async function accountNamed(
  records: Records,
  id: string | undefined,
  errors: Pick<ErrorCollector, "add">,
): Promise<Account | undefined> {
  if (id === undefined) return undefined;
  const account = isUuid(id) ? await records.find("accounts", { id: id.toLowerCase() }) : undefined;
  if (!account) errors.add("account_id", NO_ACCOUNT);
  return account;
}

const NO_ACCOUNT = "no such account";

/** The refusal for an account that was deleted after it had been found. */
export const noSuchAccount = () => validationFailed({ account_id: NO_ACCOUNT });

/** Why `id` cannot stand where a connector of the channel `wanted` is needed; `undefined` if it can. */
export async function connectorProblem(
  { store, connectorKinds }: Pick<AdminDeps, "store" | "connectorKinds">,
  id: string,
  wanted: ChannelName | undefined,
): Promise<string | undefined> {
  const connector = await findConnector(store.records, id);
  if (!connector) return NO_CONNECTOR;
  const kind = connectorKinds.find((each) => each.kind === connector.kind);
  if (!kind || wanted === undefined || kind.channel === wanted) return undefined;
  return `${connector.name} is a connector for ${kind.channel}, not for ${wanted}`;
}

/** The connector that a query names; if there is none, notes that under `connector_id`. */
export async function connectorNamed(
  records: Records,
  id: string | undefined,
  errors: Pick<ErrorCollector, "add">,
): Promise<Connector | undefined> {
  if (id === undefined) return undefined;
  const connector = await findConnector(records, id);
  if (!connector) errors.add("connector_id", NO_CONNECTOR);
  return connector;
}

/** `id` may be any text. */
async function findConnector(records: Records, id: string): Promise<Connector | undefined> {
  return isUuid(id) ? records.find("connectors", { id: id.toLowerCase() }) : undefined;
}

export const NO_CONNECTOR = "no such connector";

/** The account that `?account_id=` names; refuses a query without one. */
export async function accountOfQuery(records: Records, query: URLSearchParams): Promise<Account> {
  const errors = createErrors();
  const id = query.get("account_id") ?? "";
  if (id === "") errors.add("account_id", "required");
  const account = id === "" ? undefined : await accountNamed(records, id, errors);
  if (!account) throw validationFailed(errors.list());
  return account;
}

/** The same if the query has the parameter at all. */
export async function accountOfQueryIfAny(
  records: Records,
  query: URLSearchParams,
): Promise<Account | undefined> {
  return query.has("account_id") ? accountOfQuery(records, query) : undefined;
}

function refuseUnstorable(value: unknown, field: string, errors: ErrorCollector): void {
  if (typeof value === "string" && !isStorable(value)) errors.add(field, NOT_STORABLE);
  // Of an id that was written as a number, another one would be stored.
  if (typeof value === "number" && !isExactNumber(value)) errors.add(field, NOT_EXACT);
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!isStorable(name)) errors.add(field === "" ? "body" : field, NOT_STORABLE);
    else refuseUnstorable(member, field === "" ? name : `${field}.${name}`, errors);
  }
}
