import { type Client, getIfThere, type Page } from "../client.ts";
import type { Choice, FindChoices } from "../forms/choices.ts";
import type { Query } from "../place.ts";
import type { Named } from "./named.ts";

/** More than anybody chooses from without looking for a name. */
export const MOST_CHOICES = 1_000;

const MOST_FOUND = "100";

interface Beyond<Row> {
  /** Of the API. */
  readonly path: string;
  readonly toChoice: (row: Row) => Choice;
  /** Which of them may be chosen; absent: each. */
  readonly query?: Query;
}

/** Finds records that are beyond those that were read; `undefined` if these are all. */
export function findBeyond<Row>(
  client: Client,
  read: readonly Row[],
  { path, toChoice, query }: Beyond<Row>,
): FindChoices | undefined {
  if (read.length < MOST_CHOICES) return undefined;
  return async (search) => {
    const { data, next } = await client.get<Page<Row>>(path, { ...query, search, limit: MOST_FOUND });
    return { choices: data.map(toChoice), hasMore: next !== undefined };
  };
}

interface Naming<Row> {
  readonly path: string;
  readonly ids: readonly (string | undefined)[];
  /** What stands for one that is gone. */
  readonly gone: (id: string) => Row;
}

/** Adds the records of these ids that are beyond those that were read. */
export async function addBeyond<Row extends Named>(
  client: Client,
  read: readonly Row[],
  { path, ids, gone }: Naming<Row>,
): Promise<readonly Row[]> {
  if (read.length < MOST_CHOICES) return read;
  const known = new Set(read.map(({ id }) => id));
  const missing = new Set(ids.filter((id) => id !== undefined && isUuid(id) && !known.has(id)));
  const find = async (id = "") => (await getIfThere<Row>(client, `${path}/${id}`)) ?? gone(id);
  return [...read, ...(await Promise.all([...missing].map(find)))];
}

/** What the simulator does stands in place of a connector's id. */
function isUuid(id: string): boolean {
  return /^[0-9a-f-]{36}$/.test(id);
}
