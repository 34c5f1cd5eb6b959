import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Connector } from "../../core/records/accounts.ts";
import type { Records } from "../../store/store.ts";
import { createWithdrawn } from "./withdrawn.ts";

const MINUTE = 60_000;

/** Knows of one connector; others are stored if `isStored`. */
function start({ isStored = false } = {}) {
  const clock = createHeldClock();
  const find = (async () => (isStored ? {} : undefined)) as unknown as Records["find"];
  const withdrawn = createWithdrawn({ records: { find }, clock });
  const set = (isEnabled: boolean) => withdrawn.reconcile([{ id: "c", isEnabled } as Connector]);
  return { clock, set, why: withdrawn.why };
}

test("a connector is given up once it has been disabled for five minutes without a break", async () => {
  const { clock, set, why } = start();
  for (const isEnabled of [false, true, false]) {
    set(isEnabled);
    await clock.advance(4 * MINUTE);
    expect(await why("c")).toBeUndefined();
  }
  set(false);
  await clock.advance(MINUTE);
  expect(await why("c")).toBe("disabled");
  set(true);
  expect(await why("c")).toBeUndefined();
});

test("one that is not known here is deleted only if it is not stored either", async () => {
  expect(await start().why("d")).toBe("deleted");
  expect(await start({ isStored: true }).why("d")).toBeUndefined();
});
