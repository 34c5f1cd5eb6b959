import type { Client, Page } from "../client.ts";
import type { Choice, FindChoices } from "../forms/choices.ts";

/** More than anybody chooses from without looking for a name. */
export const MOST_CHOICES = 1_000;

const MOST_FOUND = "100";

interface Beyond<Row> {
  /** Of the API. */
  readonly path: string;
  readonly toChoice: (row: Row) => Choice;
  /** Which of them may be chosen; absent: each. */
  readonly isMeant?: (row: Row) => boolean;
}

/** Finds records that are beyond those that were read; `undefined` if these are all. */
export function findBeyond<Row>(
  client: Client,
  read: readonly Row[],
  { path, toChoice, isMeant = () => true }: Beyond<Row>,
): FindChoices | undefined {
  if (read.length < MOST_CHOICES) return undefined;
  return async (search) => {
    const { data, next } = await client.get<Page<Row>>(path, { search, limit: MOST_FOUND });
    return { choices: data.filter(isMeant).map(toChoice), hasMore: next !== undefined };
  };
}
