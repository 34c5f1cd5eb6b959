/** A page of a list: how it is described, and how it is answered. */
import Type, { type TObject, type TSchema } from "typebox";

/** @param cursor the query parameter that takes the `next` of the page before */
export function pageSchema(row: TSchema, cursor: string, title?: string): TObject {
  return Type.Object(
    {
      data: Type.Array(row),
      next: Type.Optional(
        Type.String({ description: `Give it as \`${cursor}\` for the next page; absent on the last` }),
      ),
    },
    title === undefined ? {} : { title },
  );
}

/** Answers with a page. One more row is read than it holds: whether there is a next page costs no second query. */
export async function answerPage<
  Row extends { readonly id: string },
  Page extends { readonly limit: number },
>(page: Page, read: (page: Page) => Promise<readonly Row[]>, show: (row: Row) => unknown): Promise<Response> {
  const rows = await read({ ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const next = rows.length > page.limit ? shown.at(-1)?.id : undefined;
  return Response.json({ data: await Promise.all(shown.map(show)), next });
}
