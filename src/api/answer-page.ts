/** Answers with a page of a list. One more is read than it holds: whether there is a next page costs no second query. */
export async function answerPage<
  Row extends { readonly id: string },
  Page extends { readonly limit: number },
>(page: Page, read: (page: Page) => Promise<readonly Row[]>, show: (row: Row) => unknown): Promise<Response> {
  const rows = await read({ ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const next = rows.length > page.limit ? shown.at(-1)?.id : undefined;
  return Response.json({ data: await Promise.all(shown.map(show)), next });
}
