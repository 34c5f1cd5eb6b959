/** Imports a DLT portal's export into an account's records: creates and updates them, and deletes none. */
import { setImmediate } from "node:timers/promises";
import type { DltList } from "../../../core/dlt/dlt-columns.ts";
import { type DltRows, readDltRow } from "../../../core/dlt/dlt-rows.ts";
import { areRounded, ROUNDED } from "../../../core/dlt/rounded-ids.ts";
import { present } from "../../../core/present.ts";
import type { Account, RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { mergeInto } from "../change-record.ts";
import { senderIdProblem } from "../senders-resource.ts";
import { bodyProblem } from "../sms-templates-resource.ts";
import type { DltSheet } from "./dlt-csv.ts";

export interface ImportRequest {
  readonly account: Account;
  readonly sheet: DltSheet;
  readonly isDryRun: boolean;
  /** How many entries of the list earlier requests have dealt with. */
  readonly from: number;
  readonly now: number;
}

export interface ImportReport {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Rows that repeat an earlier one, or only add a header to its template. */
  readonly merged: number;
  readonly refused: readonly RefusedRow[];
  /** Entries dealt with so far, of `total`. */
  readonly done: number;
  readonly total: number;
}

export interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

/** The most entries per request, so that other requests are answered meanwhile, and the command line can show progress. */
const CHUNK = 500;
/**
 * Entries stored at the same time: they share commits. PostgreSQL stores changes of records almost one after another, and one that
 * waits too long for its turn fails the request, so these few leave room for other changes.
 */
const SLICE = 10;
/** Once so many milliseconds have passed, the request is answered with what is done: its caller asks for the rest. */
const LONG_MS = 5_000;

export async function importDlt(
  deps: AdminDeps,
  request: ImportRequest,
): Promise<ImportReport | { readonly problem: string }> {
  const { list } = request.sheet.layout;
  const { ids, entries, refused, merged } = await collect(list, request);
  // A sandbox account takes any ids.
  if (request.account.mode === "live" && areRounded(ids))
    return { problem: `has ids that all end in zeros, so each ${ROUNDED}` };
  const chunk = entries.slice(request.from, request.from + CHUNK);
  const counts = { created: 0, updated: 0, unchanged: 0 };
  // Rows that cannot be read are reported by the first request only.
  const problems = request.from === 0 ? [...refused] : [];
  const startedMs = deps.clock.monotonicMs();
  let taken = 0;
  while (taken < chunk.length && deps.clock.monotonicMs() - startedMs < LONG_MS) {
    const slice = chunk.slice(taken, taken + SLICE);
    taken += slice.length;
    const outcomes = await Promise.all(slice.map((entry) => IMPORTERS[list](deps, request, entry as never)));
    for (const outcome of outcomes) {
      if (typeof outcome === "string") counts[outcome]++;
      else problems.push(outcome);
    }
  }
  return {
    ...counts,
    merged: request.from === 0 ? merged : 0,
    refused: problems.sort((one, other) => one.line - other.line),
    done: Math.min(entries.length, request.from + taken),
    total: entries.length,
  };
}

interface Entry<List extends DltList> {
  readonly line: number;
  readonly fields: DltRows[List];
}

interface Collected {
  /** By which the entries are known. */
  readonly ids: Iterable<string>;
  readonly entries: readonly Entry<DltList>[];
  readonly refused: readonly RefusedRow[];
  readonly merged: number;
}

/** Rows that are read before other work has its turn. */
const ROWS_PER_TURN = 500;

/** Reads the rows into entries, one for each id. */
async function collect(list: DltList, { sheet, account }: ImportRequest): Promise<Collected> {
  const found = new Map<string, Found>();
  const refused: RefusedRow[] = [];
  let merged = 0;
  for (const [index, { line, cells }] of sheet.rows.entries()) {
    if (index % ROWS_PER_TURN === 0) await setImmediate();
    const reading = readDltRow(list, sheet.layout, { cells, mode: account.mode });
    if ("reason" in reading) {
      refused.push({ line, reason: reading.reason });
      continue;
    }
    const row = toFound(line, reading.fields);
    const first = found.get(reading.key);
    if (!first) found.set(reading.key, row);
    else if (first.rest !== row.rest)
      refused.push({ line, reason: `${reading.key} stands on line ${first.line} with other values` });
    else {
      // Some lists have a row for each header of a template: joins their headers.
      for (const header of row.headers) first.headers.add(header);
      merged++;
    }
  }
  return { ids: found.keys(), entries: [...found.values()].map(toEntry), refused, merged };
}

/** The rows of one id. What is compared is written once, and headers are a set: an id may have thousands of rows. */
interface Found extends Entry<DltList> {
  readonly headers: Set<string>;
  /** All fields but the headers. */
  readonly rest: string;
}

function toFound(line: number, fields: DltRows[DltList]): Found {
  const { linkedHeaders = [], ...rest } = fields as DltRows["templates"];
  return { line, fields, headers: new Set(linkedHeaders), rest: JSON.stringify(rest) };
}

function toEntry({ line, fields, headers }: Found): Entry<DltList> {
  return { line, fields: { ...fields, ...(headers.size > 0 && { linkedHeaders: [...headers] }) } };
}

type Outcome = "created" | "updated" | "unchanged" | RefusedRow;

type Importer<List extends DltList> = (
  deps: AdminDeps,
  request: ImportRequest,
  entry: Entry<List>,
) => Promise<Outcome>;

const IMPORTERS: { readonly [List in DltList]: Importer<List> } = {
  async templates(deps, request, { line, fields }) {
    const problem = bodyProblem(fields.body);
    if (problem !== undefined) return { line, reason: `the content ${problem}` };
    const { dltTemplateId = "", name = dltTemplateId, ...rest } = fields;
    const where = { accountId: request.account.id, dltTemplateId };
    const created = { ...where, name, ...rest };
    return createOrUpdate(deps, request, { line, kind: "smsTemplates", where, created, changed: rest });
  },
  async headers(deps, request, { line, fields }) {
    const { senderId, ...rest } = fields;
    const problem = senderIdProblem(senderId);
    if (problem !== undefined) return { line, reason: `the header ${problem}` };
    const where = { accountId: request.account.id, senderId };
    const created = { ...where, isDefault: false, ...rest };
    return createOrUpdate(deps, request, { line, kind: "senders", where, created, changed: rest });
  },
  async entities(deps, request, { line, fields }) {
    const { entityId, name, ...rest } = fields;
    const where = { accountId: request.account.id, entityId };
    const created = present({ ...where, name, ...rest });
    return createOrUpdate(deps, request, { line, kind: "dltEntities", where, created, changed: rest });
  },
};

interface Imported<K extends RecordKind> {
  readonly line: number;
  readonly kind: K;
  /** Finds the record if it exists already. */
  readonly where: Partial<RecordTypes[K]>;
  /** The fields of a new record. */
  readonly created: Partial<RecordTypes[K]>;
  /** The fields that replace those of an existing record. Its name is not among them: that is the operator's choice. */
  readonly changed: Partial<RecordTypes[K]>;
}

async function createOrUpdate<K extends RecordKind>(
  { store: { records }, newId }: AdminDeps,
  { isDryRun, now }: ImportRequest,
  imported: Imported<K>,
): Promise<Outcome> {
  const { line, kind, where, created } = imported;
  // Made before the first `await`: then ids, and so lists of the records, are in the order of the rows.
  const id = newId();
  const current = await records.find(kind, where);
  if (current) return update(records, { imported, current, isDryRun });
  const record = { id, ...created, createdAt: now } as unknown as RecordTypes[K];
  const result = isDryRun ? "created" : await records.create(kind, record);
  if (result === "created") return result;
  // Another import of the same list may have created it just now: one that goes on after its command was ended, for example.
  const theirs = await records.find(kind, where);
  if (theirs) return update(records, { imported, current: theirs, isDryRun });
  return { line, reason: `${result.conflict} is taken or gone` };
}

interface Update<K extends RecordKind> {
  readonly imported: Imported<K>;
  readonly current: RecordTypes[K];
  readonly isDryRun: boolean;
}

async function update<K extends RecordKind>(
  records: AdminDeps["store"]["records"],
  { imported: { line, kind, changed }, current, isDryRun }: Update<K>,
): Promise<Outcome> {
  const toChanges = (read: RecordTypes[K]) => differences(read, changed);
  if (Object.keys(toChanges(current)).length === 0) return "unchanged";
  const result = isDryRun ? current : await mergeInto(records, kind, { current, toChanges });
  const isDone = result !== undefined && !("conflict" in result || "overtakenBy" in result);
  return isDone ? "updated" : { line, reason: "it was changed by another at the same time" };
}

/** The fields of `wanted` that `current` has not, or has otherwise. */
function differences<Fields extends object>(current: object, wanted: Fields): Fields {
  const before = current as Readonly<Record<string, unknown>>;
  const changed = Object.entries(wanted).filter(
    ([field, value]) => JSON.stringify(before[field]) !== JSON.stringify(value),
  );
  return Object.fromEntries(changed) as Fields;
}
