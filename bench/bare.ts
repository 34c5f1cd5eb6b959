import { join } from "node:path";

/** Starts the yardstick in a process of its own. */
export async function startBare(): Promise<{ readonly url: string; stop(): void }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "bare-server.ts")], { stdout: "pipe" });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  return { url: new TextDecoder().decode(value).trim(), stop: () => child.kill() };
}
