import { statSync } from "node:fs";
import { join } from "node:path";
import { refuseMovedFile } from "../../store/move/move-marks.ts";
import { AdminFailure } from "../admin/admin-client.ts";
import { DATABASE_FILE } from "./data-folder.ts";

/** Path of a data folder's database. Throws if there is none, or if it has moved to PostgreSQL. */
export function ownDatabase(dataFolder: string): string {
  const path = join(dataFolder, DATABASE_FILE);
  if (!isThere(path)) throw new AdminFailure(noDatabase(path));
  try {
    refuseMovedFile(path);
  } catch (error) {
    throw error instanceof Error ? new AdminFailure(`${path}: ${error.message}`) : error;
  }
  return path;
}

/** The words for a data folder without a database. */
export const noDatabase = (path: string): string =>
  `there is no ${path}: name the data folder with --data or POSTRIDER_DATA`;

/** Throws if the folder may not be read: it may hold a database all the same. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOTDIR") return false;
    throw error;
  }
}
