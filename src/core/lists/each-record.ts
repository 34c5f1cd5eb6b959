import { present } from "../present.ts";

const PAGE = 1_000;

/** The records of a list in order of id, after `from` if given. Pages are read as the caller goes on. */
export async function* eachRecord<Row extends { readonly id: string }>(
  list: (page: { readonly after?: string; readonly limit: number }) => Promise<readonly Row[]>,
  from?: string,
): AsyncGenerator<Row, void, undefined> {
  let after = from;
  do {
    const rows = await list({ limit: PAGE, ...present({ after }) });
    yield* rows;
    after = rows.length === PAGE ? rows.at(-1)?.id : undefined;
  } while (after !== undefined);
}
