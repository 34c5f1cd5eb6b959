import { statSync } from "node:fs";
import { join } from "node:path";
import { refuseMoved } from "../../store/move/move-marks.ts";
import { AdminFailure } from "../admin/admin-client.ts";
import { DATABASE_FILE } from "./data-folder.ts";

/** Told where a data folder is not one. */
export const noDatabase = (path: string): string =>
  `there is no ${path}: name the data folder with --data or POSTRIDER_DATA`;

/** The path of a data folder's database, for commands that work on it: it is there, and has not moved to PostgreSQL. */
export function ownDatabase(dataFolder: string): string {
  const path = join(dataFolder, DATABASE_FILE);
  // Throws where another user's folder cannot be looked into: there may well be one.
  if (!statSync(path, { throwIfNoEntry: false })) throw new AdminFailure(noDatabase(path));
  try {
    refuseMoved(path);
  } catch (error) {
    throw error instanceof Error ? new AdminFailure(`${path}: ${error.message}`) : error;
  }
  return path;
}
