import type { InboundPiece, InboundQuery } from "../../../core/inbound/inbound.ts";
import { firstUuidAt } from "../../../core/uuid.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { groupOf, groupOfPart, type InboundPartRow, type PartGroup } from "../../inbound/inbound-parts.ts";
import { type InboundRow, toInboundMessage } from "../../inbound/inbound-rows.ts";
import { keepInbound, takeInbound } from "../../inbound/take-inbound.ts";
import { createWaitingCount } from "../../inbound/waiting-count.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import type { Notifier } from "../../notifier.ts";
import type { InboundStore } from "../../store.ts";
import type { Session, SqlValue } from "../database/driver.ts";
import { createListCommit } from "../database/group-commit.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { lockNames } from "../database/name-locks.ts";
import type { ClosableDatabase, Database } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { dropUnassigned } from "./drop-unassigned.ts";
import { endRepeats } from "./end-repeats.ts";
import { type InboundQuestions, type LoadedInbound, loadInbound } from "./load-inbound.ts";
import { nameOfGroup } from "./part-table.ts";

export interface InboundStoreParts {
  /** Notified of lanes that have webhooks ready. */
  readonly notifier: Notifier<Lane>;
  readonly erasedNames: ErasedNames;
}

/** `Store.inbound`: calls of one turn share a transaction. */
export function createInbound(
  closable: ClosableDatabase,
  { notifier, erasedNames }: InboundStoreParts,
): InboundStore {
  const { database: db, within } = closable;
  const known = { erasedNames, waitingCount: createWaitingCount() };
  const change: Change = async (questions, work) => {
    const { value, lanes } = await within.transaction(async (session) => {
      lockNames(session, { family: LOCKS.inbound, names: namesOf(questions) });
      const loaded = await loadInbound(session, questions, known);
      const value = work(loaded.state);
      return { value, lanes: await loaded.write() };
    });
    notifier.notify(lanes);
    return value;
  };
  const receive = createReceive(change);
  const storeIncomplete = createStoreIncomplete(within, change);
  return {
    receive: (pieces) => closable.admit(() => receive(pieces)),
    endRepeats: (span) => endRepeats(db, span),
    list: async (query) => (await select(db, query)).map(toInboundMessage),
    countUnassigned: async () => (await db.query<{ count: number }>(COUNT_UNASSIGNED))[0]?.count ?? 0,
    dropUnassigned: (bounds) => dropUnassigned(db, bounds),
    storeIncomplete: (before, limit) => closable.admit(() => storeIncomplete(before, limit)),
  };
}

const COUNT_UNASSIGNED = `SELECT count(*) AS count FROM
  (SELECT 1 FROM inbound_messages WHERE account_id IS NULL LIMIT ${MAX_COUNTED}) AS counted`;

/** Runs the rules in a transaction that has locked the pieces and groups they are asked about. */
type Change = <T>(questions: InboundQuestions, work: (state: LoadedInbound["state"]) => T) => Promise<T>;

function namesOf({ pieces, groups }: InboundQuestions): ReadonlySet<string> {
  const keys = pieces.map(({ connectorId, key }) => JSON.stringify([connectorId, key]));
  return new Set([...keys, ...groups.map(nameOfGroup)]);
}

function createReceive(change: Change): InboundStore["receive"] {
  return createListCommit((pieces) => {
    const whole = pieces.filter(({ part }) => part === undefined);
    const groups = pieces.flatMap(partGroups);
    const cameAt = Math.max(...pieces.map(({ receivedAt }) => receivedAt));
    return change({ pieces: whole, groups, cameAt, places: pieces }, (state) =>
      pieces.map((piece) => takeInbound(state, piece)),
    );
  }, WEIGHT);
}

/** Weight of a piece in group commit: high, so that few share a transaction and its locks. */
const WEIGHT = 8;

function partGroups(piece: InboundPiece): PartGroup[] {
  return piece.part ? [groupOfPart(piece, piece.part)] : [];
}

function createStoreIncomplete(session: Session, change: Change): InboundStore["storeIncomplete"] {
  return async (before, limit) => {
    const old = await session.query<InboundPartRow>(OLD, [before, limit]);
    const groups = [...new Map(old.map((row) => [nameOfGroup(groupOf(row)), groupOf(row)])).values()];
    if (groups.length === 0) return 0;
    return change({ pieces: [], groups, places: [] }, (state) => {
      let rows = 0;
      for (let over = state.parts.expire(before); over; over = state.parts.expire(before)) {
        if (over.message) keepInbound(state, over.message);
        rows += over.rows;
      }
      return rows;
    });
  };
}

const OLD = "SELECT * FROM inbound_parts WHERE received_at < $1 ORDER BY received_at LIMIT $2";

/** Selects by time as well, since ids carry it. */
function select(db: Database, query: InboundQuery): Promise<readonly InboundRow[]> {
  const { accountId, from, to, after, before, olderThan, limit } = query;
  const tests: (readonly [test: string, value: SqlValue | undefined])[] = [
    ["account_id =", accountId ?? undefined],
    ["sender =", from],
    ["recipient =", to],
    ["id >=", after === undefined ? undefined : firstUuidAt(after)],
    ["id <", before === undefined ? undefined : firstUuidAt(before)],
    ["id <", olderThan],
  ];
  const given = tests.flatMap(([test, value]) => (value === undefined ? [] : [{ test, value }]));
  const where = given.map(({ test }, at) => `${test} $${at + 2}`);
  if (accountId === null) where.unshift("account_id IS NULL");
  // By account too, although all have none: the planner does not conclude that from `IS NULL`, and would not walk the index by account.
  const order = accountId === null ? "account_id DESC, id DESC" : "id DESC";
  const sql = `SELECT * FROM inbound_messages WHERE ${where.join(" AND ")} ORDER BY ${order} LIMIT $1`;
  return db.query<InboundRow>(sql, [limit, ...given.map(({ value }) => value)]);
}
