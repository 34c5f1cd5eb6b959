import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import { createWorld } from "../../contract/world.contract.ts";
import { CHECKPOINT_PROGRAM, inFolder, openWithDriver } from "../sqlite-world.contract.ts";
import { type Driver, openDriver } from "./driver.ts";
import { CHECKPOINT_PAGES, WAL_SIZE_LIMIT } from "./long-wal.ts";

const PAGE = 4_096;
const SHORT = CHECKPOINT_PAGES * PAGE;

test("a log that grew long beside a reader is shortened by a thread, and no commit has to write it back", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const { store, driver } = await openWithDriver(path, { checkpointThread: CHECKPOINT_PROGRAM });
    const { sms, clock } = await createWorld(store);
    const size = () => statSync(`${path}-wal`).size;
    const write = () => sms({ content: { metadata: { filling: "x".repeat(SHORT / 16) } } });
    const reader = openReader(path);
    for (let written = 0; written <= WAL_SIZE_LIMIT * 3; written += SHORT / 16) await write();
    expect(size()).toBeGreaterThan(WAL_SIZE_LIMIT * 2);
    expect(pagesToCheckpoint(driver)).toBe(0);
    reader.close();
    // Whoever wants the log empty waits for the thread, too.
    await store.erasures.advance(clock.now, 10);
    expect(size()).toBeGreaterThan(WAL_SIZE_LIMIT * 2);
    const isShort = () => size() <= WAL_SIZE_LIMIT && pagesToCheckpoint(driver) !== 0;
    await until(sms, isShort, { pauseMs: 0 });
    expect(pagesToCheckpoint(driver)).toBe(CHECKPOINT_PAGES);
    await store.close();
  }));

test("a store closes while a reader holds its log", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const { store, driver } = await openWithDriver(path, { checkpointThread: CHECKPOINT_PROGRAM });
    const { sms } = await createWorld(store);
    const reader = openReader(path);
    for (let written = 0; written <= WAL_SIZE_LIMIT * 3 && pagesToCheckpoint(driver) !== 0; ) {
      await sms({ content: { metadata: { filling: "x".repeat(SHORT / 16) } } });
      written += SHORT / 16;
    }
    expect(pagesToCheckpoint(driver)).toBe(0);
    await store.close();
    reader.close();
  }));

function openReader(path: string): Driver {
  const reader = openDriver(path, { isReadOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM messages").get();
  return reader;
}

/** After how many pages the connection's commits write the log back; 0: never. */
function pagesToCheckpoint(driver: Driver): number | undefined {
  return driver.prepare<{ wal_autocheckpoint: number }>("PRAGMA wal_autocheckpoint").get()
    ?.wal_autocheckpoint;
}
