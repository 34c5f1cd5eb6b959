import { expect, test } from "bun:test";
import { type Client, readAll } from "./client.ts";
import type { Query } from "./place.ts";

/** Answers with three rows at a time, of seven. */
function pagesOf(asked: Query[]): Pick<Client, "get"> {
  const pages: Record<string, object> = {
    "": { data: [1, 2, 3], next: "3" },
    "3": { data: [4, 5, 6], next: "6" },
    "6": { data: [7] },
  };
  const answer = async (_: string, query: Query = {}): Promise<unknown> => {
    asked.push(query);
    return pages[query.after ?? ""];
  };
  return { get: answer as Client["get"] };
}

test("a list is read page by page to its end, or until there are enough", async () => {
  const asked: Query[] = [];
  const client = pagesOf(asked) as Client;
  expect(await readAll<number>(client, "accounts", { atMost: 1_000 })).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(asked.map(({ after }) => after)).toEqual([undefined, "3", "6"]);
  expect(await readAll<number>(client, "accounts", { atMost: 6, query: { mode: "live" } })).toEqual([
    1, 2, 3, 4, 5, 6,
  ]);
  expect(asked.map(({ mode }) => mode)).toEqual([undefined, undefined, undefined, "live", "live"]);
});
