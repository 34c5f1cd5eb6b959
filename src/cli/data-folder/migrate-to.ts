import { randomBytes } from "node:crypto";
import type { Counted } from "../../store/move/count-both.ts";
import { cancelMove, type MoveUp, moveUp } from "../../store/move/move-up.ts";
import { readKeyCheckValue } from "../../store/sqlite/backup.ts";
import { createVault } from "../../store/vault.ts";
import { withReasons } from "../commands/or-refusal.ts";
import { type KeyPlaces, requireMasterKey } from "../keys/find-master-key.ts";
import { databaseIn } from "./own-database.ts";
import { type OnLostCommits, withDataFolder } from "./with-data-folder.ts";

export interface MoveOrder extends Omit<MoveUp, "path" | "vault">, KeyPlaces {
  readonly onLostCommits?: OnLostCommits;
}

/** Moves a stopped service from its data folder into a PostgreSQL database; see `moveUp`. */
export async function migrateTo(order: MoveOrder): Promise<readonly Counted[]> {
  const path = databaseIn(order.dataFolder);
  const { dataFolder, onLostCommits } = order;
  const move = () => {
    const masterKey = requireMasterKey(order, readKeyCheckValue(path));
    return moveUp({ ...order, path, vault: createVault({ masterKey, randomBytes }) });
  };
  return withDataFolder(dataFolder, () => withReasons(move), onLostCommits);
}

/** Lets the service start on the data folder again. Returns false if it had not moved. */
export async function stayWithSqlite(dataFolder: string): Promise<boolean> {
  const path = databaseIn(dataFolder);
  return withDataFolder(dataFolder, () => withReasons(async () => cancelMove(path)));
}
