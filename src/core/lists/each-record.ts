import { present } from "../present.ts";

const PAGE = 1_000;

/** Every record of a list that is in order of id, read page by page as far as the caller goes; only those behind `from`. */
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
