/** The endpoints that create, show, update and delete a record, the same for every kind; all five with the list. */
import Type, { type Static, type TObject, type TSchema } from "typebox";
import { present } from "../../core/present.ts";
import type { Account, RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import type { Conflict, RecordChanges } from "../../store/store.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { conflict, notFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { changeRecord, taken } from "./change-record.ts";
import { accountNamed, type Draft, readDraft, sealDraft } from "./draft.ts";
import { refuseFixed, refuseUnlikeShown, withoutUnchanged } from "./fixed-fields.ts";
import { createInTurn } from "./in-turn.ts";
import { listEndpoint } from "./record-list.ts";
import {
  ADMIN_MAX_BYTES,
  adminOnly,
  adminPath,
  bodyOf,
  MISSING,
  pluralOf,
  type RecordPlan,
  recordOf,
  shownNames,
  shownRecord,
  shownSchema,
} from "./record-plan.ts";

/** What every new record begins with: its id, the account that the body names, and the time. */
type Stamp<K extends RecordKind> = Pick<
  RecordTypes[K],
  Extract<keyof RecordTypes[K], "id" | "accountId" | "createdAt">
>;

/** Stores a new record, or tells the field of which the value is taken. */
type Store<K extends RecordKind> = (record: RecordTypes[K]) => Promise<"created" | Conflict>;

/** How a record of a kind is created from a body. */
export interface Creation<K extends RecordKind, S extends TObject> {
  readonly schema: S;
  /** Notes what the schema cannot check. `account`: the one that the body names, if it exists. */
  judge?(draft: Draft<S>, account: Account | undefined): void | Promise<void>;
  toRecord(body: Static<S>, stamp: Stamp<K>): RecordTypes[K] | Promise<RecordTypes[K]>;
  /** How it is stored, if there is more to it than the record. */
  store?: Store<K>;
}

/** How a record of a kind is changed by a body. */
export interface Change<K extends RecordKind, S extends TObject> {
  readonly schema: S;
  /** The fields that `null` clears, and their names in the record. */
  readonly clearable?: Readonly<Record<string, keyof RecordTypes[K] & string>>;
  /** Fields that are a change also where they say what is shown. */
  readonly meant?: readonly string[];
  /** Notes what the schema cannot check. `account`: the one that the record belongs to, if it belongs to one. */
  judge?(draft: Draft<S>, current: RecordTypes[K], account: Account | undefined): void | Promise<void>;
  /** `cleared`: the record's fields that are cleared besides. */
  toChanges(
    body: Static<S>,
    current: RecordTypes[K],
    cleared: Cleared,
  ): Partial<RecordTypes[K]> | Promise<Partial<RecordTypes[K]>>;
}

export type Cleared = Readonly<Record<string, null>>;

/** How the records of a kind come, change and go. */
interface Course<K extends RecordKind, Created extends TObject, Changed extends TObject> {
  readonly create: Creation<K, Created>;
  readonly update: Change<K, Changed>;
  readonly remove?: Removal<K>;
}

/** All five endpoints of a kind of record. */
export function recordEndpoints<K extends RecordKind, Created extends TObject, Changed extends TObject>(
  deps: AdminDeps,
  plan: RecordPlan<K>,
  { create, update, remove }: Course<K, Created, Changed>,
): readonly Endpoint[] {
  return [
    createEndpoint(deps, plan, create),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateEndpoint(deps, plan, update),
    deleteEndpoint(deps, plan, remove),
  ];
}

export function createEndpoint<K extends RecordKind, S extends TObject>(
  deps: AdminDeps,
  plan: RecordPlan<K>,
  creation: Creation<K, S>,
): Endpoint {
  return {
    ...adminOnly(pluralOf(plan.noun)),
    method: "POST",
    path: adminPath(plan.path),
    operation: `create${plan.operation}`,
    summary: `Create ${withArticle(plan.noun)}`,
    request: { schema: creation.schema, maxBytes: ADMIN_MAX_BYTES },
    responses: {
      201: { description: "Created", schema: shownSchema(plan) },
      409: { description: "The value of a field is taken; `details` names the field" },
    },
    async handle(call) {
      const given = bodyOf(call);
      const draft = readDraft(creation.schema, given, { shown: shownNames(plan) });
      refuseUnlikeShown(plan, { given, taken: creation.schema.properties, errors: draft.errors });
      const { account_id: accountId } = draft.valid as { account_id?: string };
      const account = await accountNamed(deps.store.records, accountId, draft.errors);
      await creation.judge?.(draft, account);
      const body = sealDraft(draft);
      const stamp = present({ id: deps.newId(), accountId: account?.id, createdAt: call.now });
      const record = await creation.toRecord(body, stamp as object as Stamp<K>);
      await storeNew(deps, plan, { record, ...present({ store: creation.store }) });
      return Response.json(await shownRecord(plan, record), { status: 201 });
    },
  };
}

/** Stores a new record and runs `plan.onChanged`; refuses what conflicts with another record. */
export async function storeNew<K extends RecordKind>(
  deps: AdminDeps,
  plan: RecordPlan<K>,
  { record, store }: { readonly record: RecordTypes[K]; readonly store?: Store<K> },
): Promise<void> {
  const result = await (store ? store(record) : deps.store.records.create(plan.kind, record));
  if (result !== "created") throw taken(plan.noun, result.conflict);
  await plan.onChanged?.();
}

export function showEndpoint<K extends RecordKind>(deps: AdminDeps, plan: RecordPlan<K>): Endpoint {
  return {
    ...adminOnly(pluralOf(plan.noun)),
    method: "GET",
    path: adminPath(`${plan.path}/{id}`),
    operation: `get${plan.operation}`,
    summary: `Show ${withArticle(plan.noun)}`,
    responses: { 200: { description: `The ${plan.noun}`, schema: shownSchema(plan) }, 404: MISSING },
    handle: async (call) => Response.json(await shownRecord(plan, await recordOf(deps, plan.kind, call))),
  };
}

export function updateEndpoint<K extends RecordKind, S extends TObject>(
  deps: AdminDeps,
  plan: RecordPlan<K>,
  change: Change<K, S>,
): Endpoint {
  const inTurn = createInTurn();
  const update = async (call: Call) => {
    const current = await recordOf(deps, plan.kind, call);
    const toChanges = async (read: RecordTypes[K]) => {
      const shown = JSON.parse(JSON.stringify(await shownRecord(plan, read)));
      const body = bodyOf(call);
      const given = withoutUnchanged(body, shown, change.meant);
      const { draft, cleared } = readChange(change, given, shownNames(plan));
      refuseFixed(plan, { given: body, changeable: change.schema.properties, shown, errors: draft.errors });
      await change.judge?.(draft, read, await ownerOf(deps, read));
      const changes = await change.toChanges(sealDraft(draft), read, cleared);
      return { ...changes, ...cleared } as RecordChanges<K>;
    };
    return Response.json(await shownRecord(plan, await changeRecord(deps, plan, { current, toChanges })));
  };
  return {
    ...adminOnly(pluralOf(plan.noun)),
    method: "PATCH",
    path: adminPath(`${plan.path}/{id}`),
    operation: `update${plan.operation}`,
    summary: `Change ${withArticle(plan.noun)}: only what is given changes, null clears. A fixed field may be given as it is`,
    request: { schema: describedChange(change), maxBytes: ADMIN_MAX_BYTES },
    responses: {
      200: { description: "The record after the change", schema: shownSchema(plan) },
      404: MISSING,
      409: {
        description:
          "The value of a field is taken, or others keep changing the record; `details` names the field",
      },
    },
    handle: (call) => inTurn(call.params.id ?? "", () => update(call)),
  };
}

async function ownerOf({ store }: AdminDeps, record: object): Promise<Account | undefined> {
  const { accountId: id } = record as { accountId?: string };
  return id === undefined ? undefined : store.records.find("accounts", { id });
}

/** The schema for readers of the description: `null` is a value of what it clears. `readChange` takes it away before the body is judged. */
function describedChange<K extends RecordKind, S extends TObject>(change: Change<K, S>): TObject {
  const { schema, clearable = {} } = change;
  const fields = Object.entries(schema.properties).map(([name, field]) => [
    name,
    Object.hasOwn(clearable, name) ? withNull(field) : field,
  ]);
  return Type.Object(Object.fromEntries(fields));
}

function withNull(field: TSchema): TSchema {
  const { description } = field as { description?: string };
  return Type.Optional(Type.Union([field, Type.Null()], present({ description })));
}

function readChange<K extends RecordKind, S extends TObject>(
  change: Change<K, S>,
  body: Readonly<Record<string, unknown>>,
  shown: readonly string[],
): { draft: Draft<S>; cleared: Cleared } {
  const nulls = Object.keys(change.schema.properties).filter((name) => body[name] === null);
  const given = Object.entries(body).filter(([name]) => !nulls.includes(name));
  const draft = readDraft(change.schema, Object.fromEntries(given), { shown });
  const cleared: Record<string, null> = {};
  for (const name of nulls) {
    const field = change.clearable?.[name];
    if (field) cleared[field] = null;
    else draft.errors.add(name, "cannot be cleared");
  }
  return { draft, cleared };
}

export interface Removal<K extends RecordKind> {
  /** What still refers to the record, in words: `the route 0190…`. Called only if the store says that something does. */
  usedBy?(record: RecordTypes[K]): Promise<readonly string[]>;
  /** What is deleted together with the record, in words. */
  readonly goesToo?: string;
}

export function deleteEndpoint<K extends RecordKind>(
  deps: AdminDeps,
  plan: RecordPlan<K>,
  removal: Removal<K> = {},
): Endpoint {
  return {
    ...adminOnly(pluralOf(plan.noun)),
    method: "DELETE",
    path: adminPath(`${plan.path}/{id}`),
    operation: `delete${plan.operation}`,
    summary: `Delete ${withArticle(plan.noun)}${removal.goesToo ? `, with ${removal.goesToo}` : ""}`,
    responses: {
      204: { description: "Deleted" },
      404: MISSING,
      409: { description: "In use; `details.id` says what uses it" },
    },
    async handle(call) {
      const record = await recordOf(deps, plan.kind, call);
      const removed = await deps.store.records.remove(plan.kind, record.id);
      if (removed === "in_use") throw inUse(plan.noun, (await removal.usedBy?.(record)) ?? []);
      if (!removed) throw notFound();
      await plan.onChanged?.();
      return new Response(null, { status: 204 });
    },
  };
}

function withArticle(noun: string): string {
  return `${/^([aeiou]|SMS)/i.test(noun) ? "an" : "a"} ${noun}`;
}

function inUse(noun: string, users: readonly string[]) {
  const by = users.length > 0 ? users.join(", ") : "other records";
  return conflict({ id: `the ${noun} is in use by ${by}` });
}
