import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { errorText } from "../../core/error-text.ts";
import { refuseMovedFile } from "../../store/move/move-marks.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { DATABASE_FILE } from "./data-folder.ts";

/** Path of a data folder's database. Throws if there is none, it may not be read, or it has moved to PostgreSQL. */
export function ownDatabase(dataFolder: string): string {
  const path = databaseIn(dataFolder);
  try {
    refuseMovedFile(path);
  } catch (error) {
    throw error instanceof Error ? new CommandFailure(`${path}: ${error.message}`) : error;
  }
  return path;
}

/** Like `ownDatabase`, but returns the path even if the database has moved to PostgreSQL. */
export function databaseIn(dataFolder: string): string {
  const path = join(dataFolder, DATABASE_FILE);
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new CommandFailure(whyNot(path, error));
  }
  return path;
}

/** Does not say that there is no database if the folder may not be read: it may hold one. */
function whyNot(path: string, error: unknown): string {
  const { code } = error as { code?: string };
  return code === "ENOENT" || code === "ENOTDIR"
    ? `there is no ${path}: name the data folder with --data or POSTRIDER_DATA`
    : `${path} cannot be read (${errorText(error)}): run this as the user that the service runs as`;
}
