import { isStorable, NOT_STORABLE } from "../body/text-rules.ts";
import { present } from "../present.ts";
import type { AccountMode, DltEntity, Sender, SmsTemplate } from "../records/accounts.ts";
import type { DltField, DltList, Layout } from "./dlt-columns.ts";
import { dltIdProblem } from "./dlt-id.ts";
import { DLT_STATUSES, type DltStatus } from "./dlt-registry.ts";
import {
  bareHeader,
  readBlacklistStatus,
  readCategory,
  readDltStatus,
  readHeaders,
  readHeaderType,
  readVariableTags,
  saysNothing,
} from "./dlt-words.ts";
import { isRounded, ROUNDED } from "./rounded-ids.ts";

/** The fields of the record that a row of each list describes. Fields that the row leaves out are absent. */
export interface DltRows {
  templates: Pick<SmsTemplate, "dltTemplateId" | "body"> & Partial<SmsTemplate>;
  headers: Pick<Sender, "senderId"> & Partial<Sender>;
  entities: Pick<DltEntity, "entityId"> & Partial<DltEntity>;
}

export type RowReading<List extends DltList> =
  | { readonly key: string; readonly fields: DltRows[List] }
  | { readonly reason: string };

/** Reads a row of an export; `reason` says why the row cannot be imported. */
export function readDltRow<List extends DltList>(
  list: List,
  layout: Layout,
  { cells, mode }: { readonly cells: readonly string[]; readonly mode: AccountMode },
): RowReading<List> {
  const row = openRow(layout, { cells, mode });
  const reading = READERS[list](row);
  const [reason] = row.problems;
  return reason === undefined ? (reading as RowReading<List>) : { reason };
}

interface Row {
  /** The first cell of the field that says something, without the marks that spreadsheets put around it; else "". */
  text(field: DltField): string;
  /** A DLT id; notes a problem if it is none. */
  id(field: DltField, noun: string): string | undefined;
  /** What `read` returns for the first cell that it understands; notes a problem if it understands none of them. */
  word<Word>(field: DltField, noun: string, read: (text: string) => Word | undefined): Word | undefined;
  /** The same, but notes no problem. */
  hint<Word>(field: DltField, read: (text: string) => Word | undefined): Word | undefined;
  status(): DltStatus | undefined;
  readonly problems: string[];
}

const READERS: { readonly [List in DltList]: (row: Row) => { key: string; fields: DltRows[List] } } = {
  templates(row) {
    const dltTemplateId = row.id("templateId", "template id") ?? "";
    const body = row.text("content");
    if (body === "") row.problems.push("the content is missing");
    const headers = row.text("headers");
    const fields = present({
      dltTemplateId,
      body,
      name: nameOf(row),
      dltEntityId: row.text("entityId") === "" ? undefined : row.id("entityId", "entity id"),
      category: row.word("category", "template type", readCategory) ?? row.hint("categoryHint", readCategory),
      variableTags: row.word("tags", "variable tags", readVariableTags),
      linkedHeaders: headers === "" ? undefined : readHeaders(headers),
      status: row.status(),
    });
    return { key: dltTemplateId, fields };
  },
  headers(row) {
    const senderId = bareHeader(row.text("header"));
    if (senderId === "") row.problems.push("the header is missing");
    const fields = present({
      senderId,
      dltEntityId: row.text("entityId") === "" ? undefined : row.id("entityId", "entity id"),
      headerType:
        row.word("headerType", "header type", readHeaderType) ?? row.hint("headerTypeHint", readHeaderType),
      status: row.status(),
    });
    return { key: senderId, fields };
  },
  entities(row) {
    const entityId = row.id("entityId", "entity id") ?? "";
    const urls = row
      .text("urls")
      .split(/[\s,;|]+/)
      .filter(Boolean);
    const numbers = row
      .text("numbers")
      .split(/[\n,;|]+/)
      .map((number) => number.trim());
    const fields = present({
      entityId,
      name: nameOf(row),
      status: row.status(),
      whitelistedUrls: urls.length > 0 ? urls : undefined,
      callbackNumbers: numbers.some(Boolean) ? numbers.filter(Boolean) : undefined,
    });
    return { key: entityId, fields };
  },
};

const MAX_NAME = 100;

function nameOf(row: Row): string | undefined {
  return [...row.text("name")].slice(0, MAX_NAME).join("") || undefined;
}

/** Without quotes round it, a text with a comma is cut there, and its rest is in the columns behind: nobody registered such a text. */
const IS_CUT =
  "the row has more values than there are columns: put quotes round a value that holds a separator";

function openRow(
  { columns, width }: Layout,
  { cells, mode }: { readonly cells: readonly string[]; readonly mode: AccountMode },
): Row {
  const problems: string[] = [];
  const texts = (field: DltField): readonly string[] =>
    (columns[field] ?? []).map((index) => plainCell(cells[index] ?? "")).filter((text) => !saysNothing(text));

  const row: Row = {
    problems,
    text: (field) => texts(field)[0] ?? "",
    id(field, noun) {
      const id = row.text(field);
      const problem = isRounded(id) ? ROUNDED : dltIdProblem(id, mode);
      if (id !== "" && problem === undefined) return id;
      problems.push(id === "" ? `the ${noun} is missing` : `the ${noun} ${shortened(id)} ${problem}`);
      return undefined;
    },
    word(field, noun, read) {
      const word = firstWord(texts(field), read);
      const other = texts(field).find((text) => !IS_ALPHABET.test(text));
      if (word === undefined && other !== undefined)
        problems.push(`the ${noun} "${shortened(other)}" is not known`);
      return word;
    },
    hint: (field, read) => firstWord(texts(field), read),
    status() {
      const columns = [
        { texts: texts("status"), read: readDltStatus },
        { texts: texts("blacklistStatus"), read: readBlacklistStatus },
      ];
      return worstStatus(columns, problems);
    },
  };
  if (!cells.every(isStorable)) problems.push(NOT_STORABLE);
  if (cells.slice(width).some((cell) => cell.trim() !== "")) problems.push(IS_CUT);
  return row;
}

/** Words that some portals put in the column for the type, and that say nothing about the type. */
const IS_ALPHABET = /^(?:text|unicode|sms|plain ?text|regional|english|others?)$/i;

function firstWord<Word>(
  texts: readonly string[],
  read: (text: string) => Word | undefined,
): Word | undefined {
  for (const text of texts) {
    const word = read(text);
    if (word !== undefined) return word;
  }
  return undefined;
}

const KNOWN_STATUSES = `write ${DLT_STATUSES.slice(0, -1).join(", ")} or ${DLT_STATUSES.at(-1)} instead`;

type ReadStatus = (text: string) => DltStatus | undefined;

/**
 * An export may have several columns with a status: for approval, for activity, for the blacklist. If one of them prevents sending,
 * that one counts.
 */
function worstStatus(
  columns: readonly { readonly texts: readonly string[]; readonly read: ReadStatus }[],
  problems: string[],
): DltStatus | undefined {
  const statuses = columns.flatMap(({ texts, read }) =>
    texts.map((text) => {
      const status = read(text);
      if (status === undefined)
        problems.push(`the status "${shortened(text)}" is not known: ${KNOWN_STATUSES}`);
      return status;
    }),
  );
  return statuses.find((status) => status !== undefined && status !== "approved") ?? statuses[0];
}

/** The cell without the marks that keep spreadsheets from reading an id as a number: `'110…`, `="110…"`. */
function plainCell(cell: string): string {
  const text = cell.trim();
  const guarded = /^=?"([^"]*)"$/.exec(text)?.[1] ?? /^'(\d+)'?$/.exec(text)?.[1];
  return (guarded ?? text).trim();
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
