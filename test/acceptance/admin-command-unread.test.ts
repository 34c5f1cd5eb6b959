/** Whoever reads what a command prints goes away before it ends. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeBesideService } from "./typed-commands.ts";

const { shell, text, json, dataFolder } = typeBesideService();

test("an import goes on to its end where nobody reads how far it is", async () => {
  const { account_id: account } = await json("accounts", "create", "--name", "Acme", "--mode", "live");
  const file = join(dataFolder, "addresses.csv");
  writeFileSync(file, Array.from({ length: 11_000 }, (_, index) => `user${index}@example.net`).join("\n"));
  // The reader of the progress ends at once, before the first line of it.
  const result = join(dataFolder, "result.txt");
  await shell(`postrider suppressions import --account ${account} --file ${file} 2>&1 >${result} | true`);
  expect((await text("suppressions", "export", "--account", account)).trimEnd().split("\n")).toHaveLength(
    11_001,
  );
});

test("a list whose reader has seen enough ends as if by SIGPIPE", async () => {
  const piped = await shell(
    "{ for each in 1 2 3; do postrider connectors kinds smpp; echo $? >&2; done; } | true",
  );
  expect(piped.err).toBe("141\n141\n141\n");
});
