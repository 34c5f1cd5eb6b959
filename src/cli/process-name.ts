import { hostname } from "node:os";

/** This process, as operators find it. */
export function processName(): string {
  return `${hostname()}:${process.pid}`;
}
