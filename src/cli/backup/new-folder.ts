import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../store/private-file.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { OnCutOff } from "../commands/cut-off.ts";
import { isEnvironmentFault } from "../commands/or-refusal.ts";
import { DATABASE_FILE, SANDBOX_FILE } from "../data-folder/data-folder.ts";
import { fateIn, isLifelineOf, type Lifeline, takeLifeline } from "../data-folder/lifeline.ts";
import { MASTER_KEY_FILE } from "../keys/master-key.ts";
import { TABLE_FILE } from "./dump-files.ts";
import { MANIFEST_FILE, type Manifest } from "./manifest.ts";

export interface NewFolder {
  /** The folder to make; absolute. If it exists, a folder named after the time is made in it. */
  readonly to: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly onCutOff: OnCutOff;
  /** Called, with words for the operator, for each draft that a backup left, or may have left, when it was cut off. */
  readonly onLeft: (words: string) => void;
}

export interface MadeBackup {
  /** Absolute. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * Makes a folder that gets its name once `fill` has filled it and it is on disk. If that fails, or a signal ends the command, the
 * folder is deleted. A folder that `kill -9` leaves behind is deleted by the next backup to the same place.
 */
export async function inNewFolder(
  order: NewFolder,
  fill: (draft: string) => Promise<Manifest>,
): Promise<MadeBackup> {
  const folder = nameFor(order);
  const draft = makeDraft(folder, order);
  const remove = () => rmSync(draft, { recursive: true, force: true, maxRetries: REMOVALS });
  order.onCutOff("no backup was made, and nothing is left of it", remove);
  const lifeline = openLifeline(draft);
  try {
    const manifest = await fill(draft);
    removeLifeline(draft);
    name(draft, folder);
    return { folder, manifest };
  } catch (error) {
    remove();
    throw error;
  } finally {
    lifeline?.release();
  }
}

function makeDraft(folder: string, order: NewFolder): string {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    clearDrafts(folder, order);
    return mkdtempSync(`${folder}${DRAFT}`);
  } catch (error) {
    if (!isEnvironmentFault(error)) throw error;
    throw new CommandFailure(
      `no backup can be made at ${folder} (${error.message}): name another place with --to, or let the user that runs this write there`,
    );
  }
}

/** In a draft's name this comes between the name that the folder will have and six random characters. */
const DRAFT = ".partial-";
const RANDOM_CHARACTERS = 6;

/** The mode that `mkdtemp` gives a folder. */
const OWNER_ONLY_FOLDER = 0o700;

/** How often a removal is tried: a thread may be making files in the folder meanwhile. */
const REMOVALS = 5;

function nameFor({ to, now }: NewFolder): string {
  if (!existsSync(to)) return to;
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const inside = join(to, `postrider-${time}`);
  if (existsSync(inside)) throw new CommandFailure(isThere(inside));
  return inside;
}

const isThere = (folder: string) => `${folder} is there already: run the command again`;

function name(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    throw existsSync(folder) ? new CommandFailure(isThere(folder)) : error;
  }
  syncFolder(dirname(folder));
}

/** The name of the lifeline of a process that makes a backup, so that nothing else is taken for a draft. */
const NAME = "backup";

/** `undefined` if the file system has no locks: then nobody can be sure that this process is dead. */
function openLifeline(draft: string): Lifeline | undefined {
  try {
    return takeLifeline(draft, NAME);
  } catch {
    return undefined;
  }
}

/** Removes the lifeline's file, also if it could not be taken. */
function removeLifeline(draft: string): void {
  for (const file of readdirSync(draft).filter((each) => isLifelineOf(NAME, each))) rmSync(join(draft, file));
}

/** Deletes the drafts beside the folder whose processes are dead. Throws if a live process is making the same folder. */
function clearDrafts(folder: string, { now, onLeft }: NewFolder): void {
  for (const draft of draftsBeside(folder)) {
    const files = filesOf(draft);
    if (files.length === 0 && isLeftEmpty(draft, { folder, now })) removeEmpty(draft, onLeft);
    if (!isDraft(files)) continue;
    const fate = fateIn(draft, NAME);
    if (fate === "alive" && draft.startsWith(`${folder}${DRAFT}`)) {
      throw new CommandFailure(
        `another process is making the backup ${folder}: wait for it, or name another with --to`,
      );
    }
    if (fate === "dead" && files.every(isWritten)) {
      rmSync(draft, { recursive: true, force: true });
      onLeft(deleted(draft));
    } else if (fate !== "alive") {
      onLeft(`${draft} may be left of a backup that was cut off: delete it if so`);
    }
  }
}

const deleted = (draft: string) => `deleted ${draft}, which a backup that was cut off had left`;

/** How long a draft must have been empty to be taken for dead. A backup has its first file within milliseconds. */
const BEGINNING_MS = 3_600_000;

/** The names of folders that are made inside one that exists. */
const NAMED_AFTER_TIME = /^postrider-\d{8}T\d{6}Z$/;

/**
 * Whether an empty folder is the draft of a backup that was killed before it had a lifeline. Such a draft has the name of one (of
 * this folder, or of one named after the time), our owner and a draft's mode, and has been empty for long.
 */
function isLeftEmpty(
  draft: string,
  { folder, now }: { readonly folder: string; readonly now: number },
): boolean {
  const name = basename(draft).slice(0, -(DRAFT.length + RANDOM_CHARACTERS));
  if (name !== basename(folder) && !NAMED_AFTER_TIME.test(name)) return false;
  const found = lstatSync(draft, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return false;
  const isOwn = found.uid === process.getuid?.() && (found.mode & 0o777) === OWNER_ONLY_FOLDER;
  return isOwn && now - found.mtimeMs > BEGINNING_MS;
}

function removeEmpty(draft: string, onLeft: NewFolder["onLeft"]): void {
  try {
    // Fails if there is something in it by now.
    rmdirSync(draft);
  } catch {
    return;
  }
  onLeft(deleted(draft));
}

function draftsBeside(folder: string): readonly string[] {
  const parent = dirname(folder);
  return filesOf(parent)
    .filter((file) => /\.partial-\w{6}$/.test(file))
    .map((file) => join(parent, file));
}

/** The names of files in a folder; none if it is a file, or cannot be read. */
function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether a folder with these files may be a draft: a data folder, or another program's folder, may have such a name too. */
function isDraft(files: readonly string[]): boolean {
  return files.some((file) => isLifelineOf(NAME, file)) || (files.length > 0 && files.every(isWritten));
}

/** Whether a backup writes a file of this name. If a draft has any other, somebody has begun to use it. */
function isWritten(file: string): boolean {
  return WRITTEN.has(file) || TABLE_FILE.test(file) || isLifelineOf(NAME, file);
}

const WRITTEN: ReadonlySet<string> = new Set([
  DATABASE_FILE,
  `${DATABASE_FILE}-journal`,
  MASTER_KEY_FILE,
  SANDBOX_FILE,
  MANIFEST_FILE,
]);
