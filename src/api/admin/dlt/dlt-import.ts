/** Brings what a DLT portal exports into the account's records: what is there is brought up to date, nothing is deleted. */
import type { DltList } from "../../../core/dlt/dlt-columns.ts";
import { type DltRows, readDltRow } from "../../../core/dlt/dlt-rows.ts";
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
  /** Entries of the list that earlier requests have dealt with. */
  readonly from: number;
  readonly now: number;
}

export interface ImportReport {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Rows that say again what an earlier one has said, or only add a header to its template. */
  readonly merged: number;
  readonly refused: readonly RefusedRow[];
  /** Entries dealt with so far, of how many. */
  readonly done: number;
  readonly total: number;
}

export interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

/** Entries of one request: the admin API stays answerable, and the command line has progress to show. */
const CHUNK = 500;
/** Entries at work at one time: they share commits. */
const SLICE = 50;

export async function importDlt(deps: AdminDeps, request: ImportRequest): Promise<ImportReport> {
  const { list } = request.sheet.layout;
  const { entries, refused, merged } = collect(list, request);
  const chunk = entries.slice(request.from, request.from + CHUNK);
  const counts = { created: 0, updated: 0, unchanged: 0 };
  // Problems of the rows themselves are told once.
  const problems = request.from === 0 ? [...refused] : [];
  for (let at = 0; at < chunk.length; at += SLICE) {
    const slice = chunk.slice(at, at + SLICE);
    const outcomes = await Promise.all(slice.map((entry) => TAKERS[list](deps, request, entry as never)));
    outcomes.forEach((outcome, index) => {
      if (typeof outcome === "string") counts[outcome]++;
      else problems.push({ line: slice[index]?.line ?? 0, reason: outcome.reason });
    });
  }
  return {
    ...counts,
    merged: request.from === 0 ? merged : 0,
    refused: problems.sort((one, other) => one.line - other.line),
    done: Math.min(entries.length, request.from + CHUNK),
    total: entries.length,
  };
}

interface Entry<List extends DltList> {
  readonly line: number;
  readonly fields: DltRows[List];
}

interface Collected {
  readonly entries: readonly Entry<DltList>[];
  readonly refused: readonly RefusedRow[];
  readonly merged: number;
}

/** The rows as entries, one for each id. */
function collect(list: DltList, { sheet, account }: ImportRequest): Collected {
  const entries = new Map<string, Entry<DltList>>();
  const refused: RefusedRow[] = [];
  let merged = 0;
  for (const { line, cells } of sheet.rows) {
    const reading = readDltRow(list, sheet.layout, { cells, mode: account.mode });
    if ("reason" in reading) {
      refused.push({ line, reason: reading.reason });
      continue;
    }
    const { key, fields } = reading;
    const first = entries.get(key);
    const whole = first ? mergedFields(first.fields, fields) : fields;
    if (whole) entries.set(key, { line: first?.line ?? line, fields: whole });
    else refused.push({ line, reason: `${key} stands on line ${first?.line} with other values` });
    if (whole && first) merged++;
  }
  return { entries: [...entries.values()], refused, merged };
}

/** Some lists have a row for each header of a template; anything else that differs is a contradiction. */
function mergedFields(first: object, again: object): DltRows[DltList] | undefined {
  const { linkedHeaders: before = [], ...rest } = first as DltRows["templates"];
  const { linkedHeaders: more = [], ...other } = again as DltRows["templates"];
  if (JSON.stringify(rest) !== JSON.stringify(other)) return undefined;
  const linkedHeaders = [...new Set([...before, ...more])];
  return { ...rest, ...(linkedHeaders.length > 0 && { linkedHeaders }) };
}

type Outcome = "created" | "updated" | "unchanged" | { readonly reason: string };

type Taker<List extends DltList> = (
  deps: AdminDeps,
  request: ImportRequest,
  entry: Entry<List>,
) => Promise<Outcome>;

const TAKERS: { readonly [List in DltList]: Taker<List> } = {
  async templates(deps, request, { fields }) {
    const problem = bodyProblem(fields.body);
    if (problem !== undefined) return { reason: `the content ${problem}` };
    const { dltTemplateId = "", name = dltTemplateId, ...rest } = fields;
    const twin = { accountId: request.account.id, dltTemplateId };
    const created = { ...twin, name, ...rest };
    return take(deps, request, { kind: "smsTemplates", twin, created, changed: rest });
  },
  async headers(deps, request, { fields }) {
    const { senderId, ...rest } = fields;
    const problem = senderIdProblem(senderId);
    if (problem !== undefined) return { reason: `the header ${problem}` };
    const twin = { accountId: request.account.id, senderId };
    const created = { ...twin, isDefault: false, ...rest };
    return take(deps, request, { kind: "senders", twin, created, changed: rest });
  },
  async entities(deps, request, { fields }) {
    const { entityId, name, ...rest } = fields;
    const twin = { accountId: request.account.id, entityId };
    const created = present({ ...twin, name, ...rest });
    return take(deps, request, { kind: "dltEntities", twin, created, changed: rest });
  },
};

interface Draft<K extends RecordKind> {
  readonly kind: K;
  /** What the record is found by, where it is there already. */
  readonly twin: Partial<RecordTypes[K]>;
  readonly created: Partial<RecordTypes[K]>;
  /** What an existing one takes over: its name stays its operator's. */
  readonly changed: Partial<RecordTypes[K]>;
}

async function take<K extends RecordKind>(
  { store: { records }, newId }: AdminDeps,
  { isDryRun, now }: ImportRequest,
  { kind, twin, created, changed }: Draft<K>,
): Promise<Outcome> {
  // Before the first wait: records are listed by id, and so in the order of their rows.
  const id = newId();
  const current = await records.find(kind, twin);
  if (!current) {
    const record = { id, ...created, createdAt: now } as unknown as RecordTypes[K];
    const result = isDryRun ? "created" : await records.create(kind, record);
    return result === "created" ? result : { reason: `${result.conflict} is taken or gone` };
  }
  const toChanges = (read: RecordTypes[K]) => differences(read, changed);
  if (Object.keys(toChanges(current)).length === 0) return "unchanged";
  const result = isDryRun ? current : await mergeInto(records, kind, { current, toChanges });
  const isDone = result !== undefined && !("conflict" in result || "overtakenBy" in result);
  return isDone ? "updated" : { reason: "it was changed by another at the same time" };
}

function differences<Fields extends object>(current: object, wanted: Fields): Fields {
  const before = current as Readonly<Record<string, unknown>>;
  const changed = Object.entries(wanted).filter(
    ([field, value]) => JSON.stringify(before[field]) !== JSON.stringify(value),
  );
  return Object.fromEntries(changed) as Fields;
}
