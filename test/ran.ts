/** A program that has ended, with what it printed. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Reads what a process prints until it ends. */
export async function ran(child: Bun.Subprocess<"ignore" | Buffer, "pipe", "pipe">): Promise<Ran> {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}
