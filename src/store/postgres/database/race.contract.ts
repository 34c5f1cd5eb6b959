import { until } from "../../../../test/until.ts";
import { createWorld, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openFresh, openOther } from "../postgres-world.contract.ts";
import { openDriver, type Session } from "./driver.ts";

export type Ground = Omit<World, "inside">;

export interface Race extends Ground {
  readonly url: string;
  /** Another process. */
  readonly other: Store;
  /** Runs what is given while nobody can write to the table; it may go on as soon as the promise has resolved. */
  whileHeld(
    table: string,
    run: (isWaiting: (calls: number) => Promise<void>) => Promise<void>,
  ): Promise<void>;
}

/** A world with two processes on one database, whose transactions can be held in the middle. */
export async function race(run: (race: Race) => Promise<void>): Promise<void> {
  const { store, url } = await openFresh();
  const other = (await openOther(url)) as unknown as Store;
  const driver = openDriver({ url });
  const whileHeld: Race["whileHeld"] = (table, work) =>
    driver.hold(async (stranger) => {
      await stranger.exec(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
      await work((calls) => waiting(driver, calls));
      await stranger.exec("COMMIT");
    });
  try {
    await run({ ...(await createWorld(store)), url, other, whileHeld });
  } finally {
    await driver.close();
    await other.close();
    await store.close();
  }
}

/** Resolves when so many transactions wait for a lock. */
export async function waiting(session: Session, calls: number): Promise<void> {
  const sql = "SELECT DISTINCT pid FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()";
  await until(
    () => session.query(sql),
    ({ length }) => length >= calls,
  );
}
