/** What the error that a statement ended with means. */
import { DatabaseError } from "pg";
import { StoreUnavailable } from "../../store.ts";

/**
 * SQLSTATEs that are not the statement's fault. Classes: connection (08), resources (53), operator intervention and
 * time-outs (57), system (58, but see `isDamage`). Single ones: lock timeout (55P03), a server that has become read-only (25006), and a
 * transaction that was idle or open for too long (25P03, 25P04).
 */
const OUTAGES = /^(08|53|57|58)|^(55P03|25006|25P03|25P04)$/;

/** An error that `pg` itself throws is about the connection, unless it is about our values. */
export function isOutage(error: unknown): boolean {
  if (error instanceof DatabaseError) return OUTAGES.test(error.code ?? "") || isOutOfIds(error);
  return !(error instanceof TypeError || error instanceof RangeError);
}

/**
 * The server gives out no ids of transactions, or of row locks that several share, until vacuum has freed some: so it guards against their
 * wraparound. It has no SQLSTATE of its own for that, but one for statements that are too large.
 */
function isOutOfIds({ code, routine }: DatabaseError): boolean {
  return code === "54000" && /^GetNew(Transaction|MultiXact)Id$/.test(routine ?? "");
}

/**
 * A page, a row or an index is damaged (XX001, XX002), its place on the disk cannot be read or written (58030), or its file is gone (58P01).
 * What does not touch it works. A server that cannot write its log gives no such error, but ends at once (PANIC).
 */
export function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError && /^(XX00[12]|58030|58P01)$/.test(error.code ?? "");
}

/** The connection is gone, or in an unknown state. */
export function isConnectionLost(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(08|25P03|25P04|57P)/.test(error.code ?? "");
}

/** The role lacks a right. A service that is running had it before: somebody has taken it away since. */
export function isForbidden(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "42501";
}

/**
 * What our statements name is missing: a table (42P01), a column (42703), an index that ON CONFLICT needs (42P10), or a schema (3F000). As they
 * are always the same, and were all there at the start, somebody has taken it away since: by a restore over the service, another name
 * of a table, another `search_path`, or another database under the name.
 */
export function isSchemaGone(error: unknown): boolean {
  return error instanceof DatabaseError && /^(42P01|42703|42P10|3F000)$/.test(error.code ?? "");
}

/** A file that the URL names, such as that of `sslrootcert`, cannot be read. */
export function isUnreadableFile(error: unknown): boolean {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  return /^(open|read)$/.test(String(syscall)) && /^(ENOENT|ENOTDIR|EISDIR|EACCES|EPERM)$/.test(String(code));
}

/** The server has become read-only, as a former primary is made so that nobody writes to it beside the new one. */
export function isReadOnlyServer(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "25006";
}

/** Why that may be, and what to do, for the operator. */
export const READ_ONLY =
  "the server is a standby, or default_transaction_read_only is on: name the primary in DATABASE_URL, or ALTER SYSTEM, DATABASE … or ROLE … RESET default_transaction_read_only";

/** The server, the database or the role has as many connections as it may have. */
export function isOutOfConnections(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "53300";
}

/** PgBouncer's answer to settings with which a session is to start. PostgreSQL itself names the setting in other words. */
export function isRefusedSetting(error: unknown): boolean {
  return error instanceof DatabaseError && error.message.startsWith("unsupported startup parameter");
}

/** The server does not know a setting with which a session is to start; `namesOurSetting` tells whether it is one of ours. */
export function isUnknownSetting(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === "42704";
}

/** A serialization failure, a deadlock, or a migration meanwhile: the same transaction may succeed when repeated. */
export function isCollision(error: unknown): boolean {
  if (isOutdated(error)) return true;
  return error instanceof DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** A prepared statement would return other columns, since another version has migrated the database. */
export function isOutdated(error: unknown): boolean {
  return (
    error instanceof DatabaseError && error.code === "0A000" && error.routine === "RevalidateCachedQuery"
  );
}

/** A prepared statement of ours is gone, or its name is taken: a pooler has given us another session. */
export function isNameLost(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === "26000" || error.code === "42P05");
}

/** A lock was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof DatabaseError && cause.code === "55P03";
}

/** The columns of the unique key that is violated; `undefined` for any other error. */
export function takenColumns(error: unknown): readonly string[] | undefined {
  if (!(error instanceof DatabaseError) || error.code !== "23505") return undefined;
  return /\(([^()=]+)\)=\(/.exec(error.detail ?? "")?.[1]?.split(", ") ?? [];
}

/** A foreign key is violated: others refer to the row, or it refers to one that is missing. */
export function isForeignKey(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23503";
}

/** There is no partition for the row's day. */
export function isOutOfRange(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23514";
}
