import { expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "pg";
import { freshDatabase } from "../../../test/postgres-database.ts";
import { createSystemClock } from "../../cli/system-clock.ts";
import { createWorld } from "../contract/world.contract.ts";
import { LOCKS } from "../postgres/database/lock-numbers.ts";
import { inFolder, openWithDriver, VAULT } from "../sqlite/sqlite-world.contract.ts";
import { type MoveUp, moveUp } from "./move-up.ts";

test("a move that can no longer keep others out fails, and is complete when it is run again", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const { url, drop } = await freshDatabase();
    const { store, driver } = await openWithDriver(path);
    await createWorld(store);
    driver.exec("INSERT INTO meta (name, value) VALUES ('admin_token_digest', 'd')");
    await store.close();
    const client = new Client({ connectionString: url });
    await client.connect();
    const kept = `SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
      WHERE locktype = 'advisory' AND classid = ${LOCKS.filling}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const stages: string[] = [];
    const order = {
      path,
      url,
      vault: VAULT,
      clock: createSystemClock(),
      onStage: (stage: string) => stages.push(stage),
    } satisfies Partial<MoveUp>;
    let ended: Promise<unknown> | undefined;
    const onProgress = () => {
      ended ??= client.query(kept);
    };
    const cut = moveUp({ ...order, onProgress });
    expect(await cut.catch(String)).toContain("kept other restores and moves out");
    expect(stages).toEqual(["begun"]);
    await ended;
    await client.end();
    await moveUp({ ...order, onProgress: () => {} });
    expect(stages).toEqual(["begun", "begun", "complete"]);
    await drop();
  }));
