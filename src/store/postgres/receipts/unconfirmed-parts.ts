import type { PartRef } from "../../../core/messages/outcome.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { byMessageAndPart, MAX_PER_REFERENCE, type UnconfirmedParts } from "../../receipts/receipt-state.ts";
import type { Session } from "../database/driver.ts";

/** Parts that were never answered: read by one statement, added to in memory, written by another. */
export interface LoadedUnconfirmed {
  readonly state: UnconfirmedParts;
  readonly messageIds: readonly string[];
  write(): Promise<void>;
}

export interface Reference {
  readonly connectorId: string;
  readonly reference: number;
}

/** The caller has locked the names of the references. `find` sees only these, and what is noted later. */
export async function loadUnconfirmed(
  session: Session,
  references: readonly Reference[],
): Promise<LoadedUnconfirmed> {
  const rows =
    references.length === 0
      ? []
      : await session.query<PartRow>(FIND, [
          references.map(({ connectorId }) => connectorId),
          references.map(({ reference }) => reference),
        ]);
  const noted: UnansweredPart[] = [];
  const known = rows.map(toUnanswered);
  return {
    messageIds: rows.map((row) => row.message_id),
    state: {
      note({ messageId, part }, connectorId) {
        const unanswered = { messageId, part, connectorId, reference: partReference(messageId, part) };
        known.push(unanswered);
        noted.push(unanswered);
      },
      find: (connectorId, reference) =>
        known
          .filter((each) => each.reference === reference && (each.connectorId ?? connectorId) === connectorId)
          .sort(byMessageAndPart),
    },
    async write() {
      const parts = onePerPart(noted);
      if (parts.length > 0) await session.query(NOTE, columnsOf(parts));
    },
  };
}

interface PartRow {
  readonly reference: number;
  readonly message_id: string;
  readonly part: number;
  readonly connector_id: string | null;
}

interface UnansweredPart extends PartRef {
  readonly reference: number;
  readonly connectorId: string | undefined;
}

/** In an order that no index has, as in `lockWebhooks`: the planner might go through all parts rather than sort these. */
const FIND = `SELECT DISTINCT p.reference, p.message_id, p.part, p.connector_id
  FROM unnest($1::text[], $2::bigint[]) AS t (connector_id, reference), LATERAL (
    SELECT * FROM unconfirmed_parts p
    WHERE p.reference = t.reference AND coalesce(p.connector_id, t.connector_id) = t.connector_id
    ORDER BY p.message_id::text COLLATE "C" DESC LIMIT ${MAX_PER_REFERENCE}
  ) AS p`;

function toUnanswered(row: PartRow): UnansweredPart {
  const { reference, message_id: messageId, part, connector_id } = row;
  return { reference, messageId, part, connectorId: connector_id ?? undefined };
}

/** One row per part, since one statement cannot write a row twice. */
function onePerPart(noted: readonly UnansweredPart[]): readonly UnansweredPart[] {
  const byPart = new Map<string, UnansweredPart>();
  for (const each of noted) {
    const name = `${each.messageId} ${each.part}`;
    const { connectorId } = byPart.get(name) ?? each;
    byPart.set(name, { ...each, connectorId: connectorId === each.connectorId ? connectorId : undefined });
  }
  return [...byPart.values()];
}

function columnsOf(parts: readonly UnansweredPart[]) {
  return [
    parts.map(({ reference }) => reference),
    parts.map(({ messageId }) => messageId),
    parts.map(({ part }) => part),
    parts.map(({ connectorId }) => connectorId ?? null),
  ];
}

const NOTE = `INSERT INTO unconfirmed_parts AS u (reference, message_id, part, connector_id)
  SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[])
  ON CONFLICT (reference, message_id, part) DO UPDATE
  SET connector_id = CASE WHEN u.connector_id = excluded.connector_id THEN u.connector_id END`;
