import { HOUR_MS } from "../../core/time/durations.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import type { Retention } from "../store.ts";
import type { Database } from "./database/database.ts";
import { createOldRowDeletion } from "./old-row-deletion.ts";
import { NUMBERS, UUIDS } from "./unreadable-rows.ts";

/** `Retention.pruneReceived`: each kind in a transaction of its own. */
export function createPruneReceived(db: Database): Retention["pruneReceived"] {
  const prunes = [createParkedPrune(db), createUsagePrune(db), createSandboxPrune(db)];
  return async (before, limit) => {
    let rows = 0;
    for (const prune of prunes) rows += await prune(before, limit);
    return rows;
  };
}

type Prune = (before: number, limit: number) => Promise<number>;

function createParkedPrune(db: Database): Prune {
  const remove = db.prepare("DELETE FROM parked_receipts WHERE id = ?");
  const prune = createOldRowDeletion<{ readonly id: number }, number, number>(db, {
    table: "parked_receipts",
    // Ids rise with time, so the oldest come first.
    sql: `SELECT id FROM (SELECT id, at FROM parked_receipts WHERE id > ?3 ORDER BY id LIMIT ?2) WHERE at < ?1`,
    keys: NUMBERS,
    keyOf: ({ id }) => id,
    idOf: ({ id }) => id,
    nameOf: (id) => `parked receipt ${id}`,
    remove: ({ id }) => remove.run(id),
  });
  return async (before, limit) => (await prune(before, before, limit)).count;
}

interface UsageRow {
  readonly account: number;
  readonly recipient: string;
  readonly hour: number;
}

function createUsagePrune(db: Database): Prune {
  const remove = db.prepare("DELETE FROM sms_usage WHERE account = ? AND recipient = ? AND hour = ?");
  const prune = createOldRowDeletion<UsageRow, string, number>(db, {
    table: "sms_usage",
    sql: "SELECT account, recipient, hour FROM sms_usage WHERE hour > ?3 AND hour < ?1 ORDER BY hour LIMIT ?2",
    keys: NUMBERS,
    keyOf: ({ hour }) => hour,
    idOf: ({ account, recipient, hour }) => `${account} ${hour} ${recipient}`,
    nameOf: (id) => `count of messages of account ${id.split(" ")[0]}`,
    remove: ({ account, recipient, hour }) => remove.run(account, recipient, hour),
  });
  return async (before, limit) => (await prune(Math.floor(before / HOUR_MS), before, limit)).count;
}

function createSandboxPrune(db: Database): Prune {
  const remove = db.prepare("DELETE FROM sandbox_messages WHERE id = ?");
  const prune = createOldRowDeletion<{ readonly id: string }, string, string>(db, {
    table: "sandbox_messages",
    sql: "SELECT id FROM sandbox_messages WHERE id > ?3 AND id < ?1 ORDER BY id LIMIT ?2",
    keys: UUIDS,
    keyOf: ({ id }) => id,
    idOf: ({ id }) => id,
    nameOf: (id) => `sandbox message ${id}`,
    remove: ({ id }) => remove.run(id),
  });
  return async (before, limit) => (await prune(firstUuidAt(before), before, limit)).count;
}
