/** What DKIM verifiers that others wrote say of a mail, with the keys of a zone. */
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
