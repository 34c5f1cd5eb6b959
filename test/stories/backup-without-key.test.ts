/** A backup that is to hold the master key, where that is not at hand: it is refused before the long work, not after it. */
import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { onBothStores } from "../both-stores.ts";
import { makeDataFolder, runPostrider, startPostrider } from "../postrider-process.ts";

onBothStores((store) => {
  test("a backup that is to hold a key which is not at hand is refused before a table or a folder is written", async () => {
    const folder = makeDataFolder();
    const service = await startPostrider({ dataFolder: folder.path });
    rmSync(join(folder.path, "master.key"), { force: true });
    const backup = (...more: readonly string[]) =>
      runPostrider({
        dataFolder: folder.path,
        command: "backup",
        args: ["--to", join(folder.path, "backups", "first"), ...more],
        env: { POSTRIDER_SECRET: "the key of another database" },
      });
    const refused = await backup("--with-key");
    expect(refused.output).toMatch(/^error: the master key of this database is not at hand: [^\n]+\n$/);
    expect(refused.code).toBe(1);
    if (store === "sqlite") expect(existsSync(join(folder.path, "backups"))).toBe(false);
    expect(existsSync(join(folder.path, "backups", "first"))).toBe(false);
    expect((await backup()).code).toBe(0);
    service.kill("SIGKILL");
    await service.exited;
    folder.remove();
  });
});
