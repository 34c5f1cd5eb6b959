import { present } from "../../../core/present.ts";
import { firstUuidAt } from "../../../core/uuid.ts";
import { createIsNamed, inJson } from "../../erasures/erasure-work.ts";
import { cameOver, type PlaceRow } from "../../inbound/inbound-parts.ts";
import type { Database } from "../database/database.ts";
import { createOwners } from "../inbound/inbound.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { type Keys, NUMBERS, UUIDS } from "../unreadable-rows.ts";
import { createAccountStretches, OF_STRETCH } from "./account-stretches.ts";
import type { Walk } from "./erasures.ts";
import { createStretchEnd } from "./stretch-end.ts";

/** A table whose rows are deleted if they name the recipient. */
interface Sweep {
  readonly table: string;
  readonly key: string;
  /** Whether the key is an id that contains its time. Then rows that are newer than the request to erase stay. Otherwise it is a number. */
  readonly isTimed: boolean;
  /**
   * Which rows are meant: ?3 is the recipient, ?4 the account's id, or NULL for all; without a timed key, ?5 is when the erasure was
   * requested.
   */
  readonly test: string;
  /** The form of the recipient in the test; absent: as it is. */
  readonly needle?: (recipient: string) => string;
  /** SQL of a text that has to name the recipient, which the test also finds within longer numbers and addresses. */
  readonly names?: string;
  /** Statements for the rows that `where` selects; absent: they are deleted. */
  readonly work?: (where: string) => readonly string[];
  /** For large rows: which share of the usual number one stretch examines. */
  readonly share?: number;
}

const SWEEPS: readonly Sweep[] = [
  {
    table: "sandbox_messages",
    key: "id",
    isTimed: true,
    test: "(recipient = ?3 OR instr(lower(rendered), ?3) > 0) AND (?4 IS NULL OR account_id = ?4)",
    needle: inJson,
    names: "recipient || ' ' || rendered",
    share: 0.1,
  },
  {
    table: "inbound_messages",
    key: "id",
    isTimed: true,
    test: "sender = ?3 AND (?4 IS NULL OR account_id = ?4)",
    work: (where) => [
      `DELETE FROM webhook_attempts WHERE webhook IN (SELECT id FROM webhooks WHERE message_id IN
         (SELECT id FROM inbound_messages WHERE ${where}))`,
      `DELETE FROM webhooks WHERE message_id IN (SELECT id FROM inbound_messages WHERE ${where})`,
      `DELETE FROM inbound_messages WHERE ${where}`,
    ],
  },
  {
    table: "events",
    key: "number",
    isTimed: false,
    test: `message_id IS NULL AND at <= ?5 AND instr(data, ?3) > 0
      AND (?4 IS NULL OR account = (SELECT number FROM accounts WHERE id = ?4))`,
    needle: (recipient) => `"from":${JSON.stringify(recipient)}`,
  },
  // Callers choose external ids: one may be the recipient's number or address.
  {
    table: "contacts",
    key: "id",
    isTimed: true,
    test: "lower(external_id) IN (?3, ltrim(?3, '+')) AND (?4 IS NULL OR account_id = ?4)",
    work: (where) => [`UPDATE contacts SET external_id = NULL WHERE ${where}`],
  },
];

/** Walks over sandbox and inbound messages, their events, contacts, counts, and waiting parts. */
export function createSweeps(db: Database, accounts: AccountCache): readonly Walk[] {
  return [
    ...SWEEPS.map((sweep) => createSweep(db, sweep)),
    createCounts(db, accounts),
    createPartErasure(db),
  ];
}

function createSweep(db: Database, sweep: Sweep): Walk {
  const { table, key, isTimed, test, needle, names, work, share = 1 } = sweep;
  const keys: Keys<string | number> = isTimed ? UUIDS : NUMBERS;
  const endOf = createStretchEnd(db, { table, key, keys });
  const where = `${key} > ?1 AND ${key} <= ?2 AND ${test}`;
  const statements = (work?.(where) ?? [`DELETE FROM ${table} WHERE ${where}`]).map((sql) => db.prepare(sql));
  const removeNamed = names === undefined ? undefined : createNamedRemoval(db, { table, key, where, names });
  return ({ recipient, accountId, createdAt }, { position, looks, goesOnAt }) => {
    const latest = isTimed ? firstUuidAt(createdAt + 1) : Number.MAX_SAFE_INTEGER;
    const from = isTimed ? position : Number(position);
    const nextOf = (end: string | number | undefined) =>
      end !== undefined && end < latest ? String(end) : undefined;
    const end = endOf({ after: from, rows: looks * share }, (to) => goesOnAt(nextOf(to))) ?? latest;
    const to = end < latest ? end : latest;
    const selected = [from, to, needle?.(recipient) ?? recipient, accountId ?? null];
    const values = isTimed ? selected : [...selected, createdAt];
    if (removeNamed) removeNamed(recipient, values);
    else for (const statement of statements) statement.run(...values);
    return present({ next: nextOf(to) });
  };
}

type Named = Required<Pick<Sweep, "table" | "key" | "names">> & { readonly where: string };

/** Deletes those of the rows that `where` selects which really name the recipient. */
function createNamedRemoval(db: Database, { table, key, where, names }: Named) {
  const find = db.prepare<{ key: string | number; text: string }>(
    `SELECT ${key} AS key, ${names} AS text FROM ${table} WHERE ${where}`,
  );
  const remove = db.prepare(`DELETE FROM ${table} WHERE ${key} = ?`);
  return (recipient: string, values: readonly (string | number | null)[]): void => {
    const isNamed = createIsNamed(recipient);
    for (const row of find.all(...values)) if (isNamed(row.text)) remove.run(row.key);
  };
}

/** Deletes the recipient's counts, which are found by an index on account and recipient. */
function createCounts(db: Database, accounts: AccountCache): Walk {
  const statements = [
    `DELETE FROM sms_usage WHERE recipient = ?1 AND account IN (SELECT number FROM accounts WHERE ${OF_STRETCH})`,
    `DELETE FROM soft_bounces WHERE email = ?1 AND account_id IN (SELECT id FROM accounts WHERE ${OF_STRETCH})`,
  ].map((sql) => db.prepare(sql));
  const stretchOf = createAccountStretches(db, accounts);
  return (task, stretch) => {
    const { from, to, ...rest } = stretchOf(task, stretch);
    for (const statement of statements) statement.run(task.recipient.toLowerCase(), from, to);
    return rest;
  };
}

/** Deletes waiting parts of messages from the recipient's handset. The number that they went to tells their account. */
function createPartErasure(db: Database): Walk {
  const find = db.prepare<PlaceRow & { recipient: string }>(
    "SELECT connector_id, came_over, recipient FROM inbound_parts WHERE sender = ?",
  );
  const remove = db.prepare(
    "DELETE FROM inbound_parts WHERE connector_id = ? AND came_over IS ? AND sender = ? AND recipient = ?",
  );
  const ownerOf = createOwners(db);
  return ({ recipient, accountId }) => {
    for (const { recipient: to, ...row } of find.all(recipient)) {
      if (accountId !== undefined && ownerOf({ connectorId: cameOver(row), to }) !== accountId) continue;
      remove.run(row.connector_id, row.came_over, recipient, to);
    }
    return {};
  };
}
