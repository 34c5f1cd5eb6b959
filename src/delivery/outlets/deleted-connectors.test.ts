import { expect, test } from "bun:test";
import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";
import { createIsDeleted } from "./deleted-connectors.ts";

/** Knows of the connector `c`; `d` is stored too, but has not been read yet. */
function start() {
  const find = async (_: string, { id }: { id: string }) => (id === "d" ? { id } : undefined);
  let known = [{ id: "c", isEnabled: false } as Connector];
  const isDeleted = createIsDeleted({ find: find as unknown as Records["find"] }, () => known);
  const forget = () => {
    known = [];
  };
  return { isDeleted, forget };
}

test("a connector that is not known here counts as deleted only if it is not stored either", async () => {
  const { isDeleted } = start();
  expect([await isDeleted("c"), await isDeleted("d"), await isDeleted("e")]).toEqual([false, false, true]);
});

test("a connector that was known before counts as deleted once it is gone", async () => {
  const { isDeleted, forget } = start();
  forget();
  expect(await isDeleted("c")).toBe(true);
});
