import { isUuid } from "../../../core/uuid.ts";
import {
  addressJsonForms,
  idRange,
  MAX_CONTENT,
  maxExamined,
  readPage,
  rowLimit,
  type ShownRow,
} from "../../messages/message-page.ts";
import type { MessageQuery, MessageStore } from "../../store.ts";
import type { Session, SqlValue } from "../database/driver.ts";
import { isTo } from "./recipient-test.ts";

/** `MessageStore.list`: goes down the account's index, over at most `maxExamined` messages. */
export function createMessageList(session: Session): MessageStore["list"] {
  return async ({ before, ...rest }) => {
    const query: MessageQuery = { ...rest, ...(before !== undefined && isUuid(before) && { before }) };
    const { accountId, channel } = query;
    const { from, below } = idRange(query, HIGHEST);
    const values = [accountId, channel, below, from, maxExamined(query) - 1];
    const floor = (await session.query<{ id: string }>(FLOOR, values))[0]?.id;
    const range = { below, from: floor ?? from };
    const rows = await select(session, query, range);
    return readPage(query, { rows, floor, ...(await readEnvelopes(session, rows)) });
  };
}

/** Above every UUIDv7. */
const HIGHEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const NUMBER = "(SELECT number FROM accounts WHERE accounts.id = $1)";

/**
 * Conditions and an order that no index but the account's can serve. With others the planner goes through the primary key, over
 * the messages of all accounts, if its sample held only one account and one channel because a small account was new or missed:
 * so the account is one of an array, which says nothing about the order. What the ids are compared with stands by itself, since a
 * search ends at a bound of several columns only where the first of them differs: it would read all of the account's messages below.
 */
const IN_RANGE = `m.account = ANY(ARRAY[${NUMBER}]) AND m.channel = $2 AND m.id < $3 AND m.id >= $4`;
const NEWEST_FIRST = "ORDER BY m.account DESC, m.channel DESC, m.id DESC";

const FLOOR = `SELECT m.id FROM messages m WHERE ${IN_RANGE} ${NEWEST_FIRST} OFFSET $5 LIMIT 1`;

interface ListedRow extends ShownRow {
  readonly content: string;
}

const COLUMNS = "m.id, m.content, m.channel, m.recipient, m.status, m.parts, m.sequence, m.position, m.error";

/** If the index alone tells which messages match, only their rows are read. */
function select(
  session: Session,
  query: MessageQuery,
  { below, from }: { readonly below: string; readonly from: string },
): Promise<readonly ListedRow[]> {
  const values: SqlValue[] = [query.accountId, query.channel, below, from, rowLimit(query)];
  const tests = testsOf(query).map((test) => test((value) => `$${values.push(value)}`));
  const page = `FROM messages m WHERE ${[IN_RANGE, ...tests].join(" AND ")} ${NEWEST_FIRST} LIMIT $5`;
  const isInIndex = query.channel === "sms" && query.recipient !== undefined && query.status === undefined;
  const sql = isInIndex
    ? `SELECT ${COLUMNS} FROM (SELECT m.id ${page}) AS found JOIN messages m USING (id) ORDER BY m.id DESC`
    : `SELECT ${COLUMNS} ${page}`;
  return session.query<ListedRow>(sql, values);
}

/** Makes a condition on a row in SQL; `bind` takes a value and returns its placeholder. */
type Test = (bind: (value: string) => string) => string;

function testsOf({ channel, recipient, status }: MessageQuery): readonly Test[] {
  const tests: Test[] = [];
  if (recipient !== undefined && channel === "sms") tests.push((bind) => isTo(bind(recipient)));
  if (recipient !== undefined && channel === "email") {
    // Lowers letters of ASCII only, as all searches for addresses in messages do.
    const lower = (text: string) => `lower(${text} COLLATE "C")`;
    const holds = (value: string) => `strpos(${lower("m.parts")}, ${value}) > 0`;
    tests.push((bind) => {
      const parts = addressJsonForms(recipient).map((part) => holds(lower(`${bind(part)}::text`)));
      return `(${parts.join(" OR ")})`;
    });
  }
  if (status !== undefined) tests.push((bind) => `m.status = ${bind(status)}`);
  return tests;
}

interface EnvelopeRow {
  readonly id: string;
  /** `null` if it lies beyond `MAX_CONTENT`. */
  readonly envelope: string | null;
  readonly octets: number;
}

/** Reads the contents of a page's messages; the content of a batch once. */
async function readEnvelopes(session: Session, rows: readonly ListedRow[]) {
  const ids = [...new Set(rows.map(({ content }) => content))];
  const found = ids.length === 0 ? [] : await session.query<EnvelopeRow>(ENVELOPES, [ids]);
  const envelopes = new Map(found.map((row) => [row.id, row]));
  let octets = 0;
  return {
    envelopeOf({ content }: ListedRow) {
      const row = envelopes.get(content);
      octets += row?.octets ?? 0;
      return row?.envelope ?? undefined;
    },
    isEnough: () => octets >= MAX_CONTENT,
  };
}

/** Contents beyond `MAX_CONTENT` are measured, but not read. */
const ENVELOPES = `SELECT id, octets, CASE WHEN sum - octets < ${MAX_CONTENT} THEN envelope END AS envelope
  FROM (SELECT c.id, c.envelope, octet_length(c.envelope) AS octets,
      sum(octet_length(c.envelope)) OVER (ORDER BY t.index) AS sum
    FROM unnest($1::uuid[]) WITH ORDINALITY AS t (id, index) JOIN contents c ON c.id = t.id) AS measured`;
