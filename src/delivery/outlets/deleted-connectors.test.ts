import { expect, test } from "bun:test";
import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";
import { createDeletedConnectors } from "./deleted-connectors.ts";

/** Knows of the connector `c`; `d` is stored too, but has not been read yet. */
function start() {
  const find = async (_: string, { id }: { id: string }) => (id === "d" ? { id } : undefined);
  const deleted = createDeletedConnectors({ find: find as unknown as Records["find"] });
  deleted.reconcile([{ id: "c", isEnabled: false } as Connector]);
  return deleted;
}

test("a connector that is not known here counts as deleted only if it is not stored either", async () => {
  const deleted = start();
  expect([await deleted.includes("c"), await deleted.includes("d"), await deleted.includes("e")]).toEqual([
    false,
    false,
    true,
  ]);
});

test("one that was known before counts as deleted once it is gone", async () => {
  const deleted = start();
  deleted.reconcile([]);
  expect(await deleted.includes("c")).toBe(true);
});
