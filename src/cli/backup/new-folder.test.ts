import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inNewFolder } from "./new-folder.ts";

test("a finished backup holds no file of its lifeline, nor one that could not be taken", async () => {
  const parent = mkdtempSync(join(tmpdir(), "postrider-backup-"));
  const holds = { accounts: 0, connectors: 0, domains: 0, messages: 0, unfinished: 0 };
  const manifest = { format: 1, version: "0", created_at: "", files: {}, holds } as const;
  const order = { to: join(parent, "copy"), now: 0, onCutOff: () => {}, onLeft: () => {} };
  let during: readonly string[] = [];
  const made = await inNewFolder(order, async (draft) => {
    for (const name of ["accounts.jsonl.gz", "process-backup.new"]) writeFileSync(join(draft, name), "");
    during = readdirSync(draft);
    return manifest;
  });
  expect(during).toHaveLength(3);
  expect(made).toEqual({ folder: order.to, manifest });
  expect([readdirSync(parent), readdirSync(order.to)]).toEqual([["copy"], ["accounts.jsonl.gz"]]);
  rmSync(parent, { recursive: true });
});
