import { expect, test } from "bun:test";
import { StoreUnavailable } from "../store.ts";
import { type OpenStore, rejection } from "./world.contract.ts";

export function closeContract(open: OpenStore): void {
  test("a closed store has finished what it was given, and says that it is unavailable", async () => {
    const { store } = await open();
    const pending = store.records.setSettings(undefined, { a: "1" });
    await store.ping();
    await Promise.all([store.close(), pending]);
    await store.close();
    for (const call of [
      () => store.ping(),
      () => store.records.settings(undefined),
      () => store.records.setSettings(undefined, { a: "2" }),
      () => store.queue.claim({ queue: "q", limit: 1, now: 0, leaseMs: 1 }),
      () => store.access.adminTokenDigest(),
    ]) {
      expect(await rejection(call())).toBeInstanceOf(StoreUnavailable);
    }
  });
}
