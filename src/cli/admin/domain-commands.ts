import { formatTable, toCell } from "../commands/table.ts";
import type { NounCommand, Row } from "./command-line.ts";
import type { Noun } from "./nouns.ts";
import { pathOf, recordText } from "./record-verbs.ts";

/** `domains verify` and `domains rotate-dkim`. */
export function addDomainCommands(command: NounCommand, noun: Noun): void {
  addVerify(command);
  addRotateDkim(command, noun);
}

function addVerify(command: NounCommand): void {
  const { columns } = command.terminal;
  command.verb({
    usage: "verify <id>",
    summary: "check the domain's records in the DNS",
    async work(run) {
      const answer = await run.client.request("POST", `${pathOf("domains", run)}/verify`);
      run.print(answer, (result: Verification) => verificationText(result, columns));
      if (!(answer as Row).verified) run.fail();
    },
  });
}

function addRotateDkim(command: NounCommand, noun: Noun): void {
  command.verb({
    usage: "rotate-dkim <id>",
    summary: "make new DKIM keys; the old ones sign until the new are in the DNS",
    work: async (run) =>
      run.print(
        await run.client.request("POST", `${pathOf("domains", run)}/rotate-dkim`),
        (record: Row) => recordText(noun, record) + (noun.onCreated?.(record) ?? ""),
      ),
  });
}

interface Verification {
  readonly verified: boolean;
  readonly records: readonly Row[];
}

function verificationText({ verified, records }: Verification, width: number | undefined): string {
  const rows = records.map(({ ok, role, type, name, problem, found }) => [
    ok ? "ok" : role === "required" ? "missing" : role,
    type,
    name,
    problem ?? shortened(toCell(found)),
  ]);
  const verdict = verified
    ? "verified\n"
    : "not verified yet: changes in the DNS can take hours to be seen\n";
  return formatTable(["", "TYPE", "NAME", "FOUND"], rows, width) + verdict;
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
