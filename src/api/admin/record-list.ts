/** The list of a kind of record: its filters, and the search by what the records are called. */
import Type, { type TObject, type TSchema } from "typebox";
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import { validFields } from "../../core/body/parse-body.ts";
import { isLonger, isStorable, NOT_STORABLE } from "../../core/body/text-rules.ts";
import { present } from "../../core/present.ts";
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import type { RecordSearch } from "../../store/store.ts";
import type { Endpoint } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import { answerPage, pageSchema } from "../lists/answer-page.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { accountNamed, connectorNamed } from "./draft.ts";
import { PAGE_QUERY, readPage } from "./page.ts";
import { adminOnly, adminPath, pluralOf, type RecordPlan, shownRecord, shownSchema } from "./record-plan.ts";

/** The endpoint that lists the records of a kind, page by page. */
export function listEndpoint<K extends RecordKind>(deps: AdminDeps, plan: RecordPlan<K>): Endpoint {
  const filters = filtersSchema(plan);
  return {
    ...adminOnly(pluralOf(plan.noun)),
    method: "GET",
    path: adminPath(plan.path),
    operation: `list${pluralOf(plan.operation)}`,
    summary: `List ${pluralOf(plan.noun)}`,
    query: { ...filters.properties, search: searchSchema(plan), ...PAGE_QUERY } as Readonly<
      Record<string, TSchema>
    >,
    responses: {
      200: { description: "In order of creation", schema: pageSchema(shownSchema(plan), "after") },
    },
    async handle(call) {
      const page = readPage(call.query);
      const { where, search } = await readWanted(deps, { plan, filters }, call.query);
      return answerPage(
        { ...page, ...present({ search }) },
        (wanted) => deps.store.records.list(plan.kind, where, wanted),
        (record) => shownRecord(plan, record),
      );
    },
  };
}

function filtersSchema<K extends RecordKind>({ filters, filterSchemas }: RecordPlan<K>): TObject {
  const names = Object.keys(filters);
  return Type.Object(
    Object.fromEntries(names.map((name) => [name, Type.Optional(filterSchemas?.[name] ?? Type.String())])),
  );
}

/** As many as a contact's external id and a route's match may have, the longest that records are called by. */
const MAX_SEARCH = 255;

function searchSchema<K extends RecordKind>({ calledBy }: RecordPlan<K>) {
  const fields = Object.keys(calledBy).map((name) => `\`${name}\``);
  return Type.Optional(
    Type.String({
      maxLength: MAX_SEARCH,
      description: `Only those whose ${fields.join(" or ")} has this in it, in upper or lower case; or whose \`id\` it is`,
    }),
  );
}

interface Wanted<K extends RecordKind> {
  readonly where: Partial<RecordTypes[K]>;
  readonly search: RecordSearch<K> | undefined;
}

async function readWanted<K extends RecordKind>(
  deps: AdminDeps,
  { plan, filters }: { readonly plan: RecordPlan<K>; readonly filters: TObject },
  query: URLSearchParams,
): Promise<Wanted<K>> {
  const errors = createErrors();
  const search = readSearch(plan, query, errors);
  const given = Object.keys(filters.properties).map((name) => [name, query.get(name) ?? undefined]);
  validFields(filters, present(Object.fromEntries(given)), errors);
  const where: Record<string, string> = {};
  for (const [name, field] of Object.entries(plan.filters)) {
    const value = query.get(name);
    if (value === null) continue;
    if (!isStorable(value)) errors.add(name, NOT_STORABLE);
    where[field] = plan.toStored?.[name]?.(value) ?? value;
  }
  const account = await accountNamed(deps.store.records, where.accountId, errors);
  const connector = await connectorNamed(deps.store.records, where.connectorId, errors);
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return {
    where: {
      ...where,
      ...present({ accountId: account?.id, connectorId: connector?.id }),
    } as Partial<RecordTypes[K]>,
    search,
  };
}

/** Blanks at the ends do not count: the `+` of a number that was not escaped arrives as one. Nothing else is no search. */
function readSearch<K extends RecordKind>(
  { calledBy, toSearched = (text) => text }: RecordPlan<K>,
  query: URLSearchParams,
  errors: ErrorCollector,
): RecordSearch<K> | undefined {
  const given = query.get("search")?.trim() ?? "";
  if (!isStorable(given)) errors.add("search", NOT_STORABLE);
  if (isLonger(given, MAX_SEARCH)) errors.add("search", `must be at most ${MAX_SEARCH} characters`);
  return given === "" ? undefined : { text: toSearched(given), fields: Object.values(calledBy) };
}
