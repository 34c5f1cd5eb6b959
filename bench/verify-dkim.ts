/** What DKIM verifiers that others wrote say of a mail, with the keys of a zone. */
import { join } from "node:path";
import { dkimVerify } from "mailauth/lib/dkim/verify";

export interface Verdict {
  readonly name: string;
  readonly holds: boolean;
}

/** `zone`: TXT values by name. */
export async function verdicts(raw: string, zone: ReadonlyMap<string, string>): Promise<readonly Verdict[]> {
  const resolver = async (name: string) => [[zone.get(name) ?? ""]];
  const { results } = await dkimVerify(Buffer.from(raw), { resolver });
  const found = results.map(({ status, algo }) => ({
    name: `mailauth: ${algo} ${status.result}`,
    holds: status.result === "pass",
  }));
  return [{ name: "mailauth finds two signatures", holds: results.length === 2 }, ...found];
}

/** Debian's, not whatever else is called so. */
const PYTHON = "/usr/bin/python3";

/** dkimpy's word on it; `undefined` where it is not installed (Debian: python3-dkim). */
export async function dkimpyVerdicts(
  raw: string,
  zone: ReadonlyMap<string, string>,
): Promise<readonly Verdict[] | undefined> {
  if (!Bun.which(PYTHON) || Bun.spawnSync([PYTHON, "-c", "import dkim, nacl"]).exitCode !== 0)
    return undefined;
  const program = join(import.meta.dir, "verify-dkim.py");
  const child = Bun.spawn([PYTHON, program, JSON.stringify(Object.fromEntries(zone))], {
    stdin: Buffer.from(raw),
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  const found = lines.map((line) => ({ name: `dkimpy: ${line}`, holds: line.endsWith(" True") }));
  return [{ name: "dkimpy finds two signatures", holds: lines.length === 2 }, ...found];
}
