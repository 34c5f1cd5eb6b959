import type { Route } from "../../../core/records/accounts.ts";
import type { Records } from "../../../store/store.ts";

const PAGE = 1000;

/** All routes of the instance, read page by page. */
export async function* eachRoute(records: Pick<Records, "list">): AsyncGenerator<Route> {
  let after: string | undefined;
  do {
    const page = await records.list("routes", {}, { limit: PAGE, ...(after && { after }) });
    yield* page;
    after = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (after);
}
