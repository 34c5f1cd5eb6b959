import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** Whether this process can open this many more files. The system limits them, and connections count as files. */
export function hasFreeFiles(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of opened) closeSync(file);
  }
}
