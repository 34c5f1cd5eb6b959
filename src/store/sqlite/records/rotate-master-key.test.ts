import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createWorld } from "../../contract/world.contract.ts";
import { createVault } from "../../vault.ts";
import { openSqlite } from "../open-sqlite.ts";
import { inFolder, VAULT } from "../sqlite-world.contract.ts";
import { rotateMasterKey } from "./rotate-master-key.ts";

test("of two webhook secrets that are valid the newer one is still that after a rotation of the master key", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const before = await openSqlite({ path, vault: VAULT });
    const { account, clock } = await createWorld(before);
    for (const secret of ["whsec_b2xk", "whsec_bmV3"])
      await before.records.addWebhookSecret(account.id, { secret, createdAt: clock.now++ });
    const secrets = await before.records.webhookSecrets(account.id);
    await before.close();
    expect(secrets.map(({ secret }) => secret)).toEqual(["whsec_bmV3", "whsec_b2xk"]);
    const next = createVault({ masterKey: "another master key of some length", randomBytes });
    await rotateMasterKey({ path, from: VAULT, to: next });
    const after = await openSqlite({ path, vault: next });
    expect(await after.records.webhookSecrets(account.id)).toEqual(secrets);
    await after.close();
  }));
