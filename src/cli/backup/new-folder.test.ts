import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeLifeline } from "../data-folder/lifeline.ts";
import { inNewFolder } from "./new-folder.ts";

const HOLDS = { accounts: 0, connectors: 0, domains: 0, messages: 0, unfinished: 0 };
const MANIFEST = { format: 1, version: "0", created_at: "", files: {}, holds: HOLDS } as const;

test("a finished backup holds no file of its lifeline, nor one that could not be taken", async () => {
  const parent = mkdtempSync(join(tmpdir(), "postrider-backup-"));
  const order = { to: join(parent, "copy"), now: 0, onCutOff: () => {}, onLeft: () => {} };
  let during: readonly string[] = [];
  const made = await inNewFolder(order, async (draft) => {
    for (const name of ["accounts.jsonl.gz", "process-backup.new"]) writeFileSync(join(draft, name), "");
    during = readdirSync(draft);
    return MANIFEST;
  });
  expect(during).toHaveLength(3);
  expect(made).toEqual({ folder: order.to, manifest: MANIFEST });
  expect([readdirSync(parent), readdirSync(order.to)]).toEqual([["copy"], ["accounts.jsonl.gz"]]);
  rmSync(parent, { recursive: true });
});

const HOUR_MS = 3_600_000;

test("an empty draft goes once it is certain that nobody has just begun it, and no other folder that is empty", async () => {
  const parent = mkdtempSync(join(tmpdir(), "postrider-backup-"));
  const now = Date.now();
  const make = (name: string, { ageMs = HOUR_MS + 1_000, mode = 0o700, file = "" } = {}) => {
    const folder = join(parent, name);
    mkdirSync(folder);
    if (file !== "") writeFileSync(join(folder, file), "");
    chmodSync(folder, mode);
    utimesSync(folder, (now - ageMs) / 1_000, (now - ageMs) / 1_000);
  };
  make("copy.partial-aaaaaa");
  make("postrider-20261121T140000Z.partial-bbbbbb");
  make("copy.partial-young1", { ageMs: HOUR_MS - 1_000 });
  make("copy.partial-others", { mode: 0o755 });
  make("copy.partial-in_use", { file: "a file of somebody" });
  make("photos.partial-cccccc");
  const told: string[] = [];
  const order = {
    to: join(parent, "copy"),
    now,
    onCutOff: () => {},
    onLeft: (words: string) => told.push(words),
  };
  await inNewFolder(order, async () => MANIFEST);
  const left = [
    "copy",
    "copy.partial-in_use",
    "copy.partial-others",
    "copy.partial-young1",
    "photos.partial-cccccc",
  ];
  expect(readdirSync(parent).toSorted()).toEqual(left);
  expect(told.toSorted()).toEqual(
    ["copy.partial-aaaaaa", "postrider-20261121T140000Z.partial-bbbbbb"].map(
      (name) => `deleted ${join(parent, name)}, which a backup that was cut off had left`,
    ),
  );
  rmSync(parent, { recursive: true });
});

test("a backup whose name somebody takes while it is made fails in words, and leaves nothing but theirs", async () => {
  const parent = mkdtempSync(join(tmpdir(), "postrider-backup-"));
  const order = { to: join(parent, "copy"), now: 0, onCutOff: () => {}, onLeft: () => {} };
  const made = inNewFolder(order, async () => {
    mkdirSync(order.to);
    writeFileSync(join(order.to, "theirs"), "");
    return MANIFEST;
  });
  await expect(made).rejects.toThrow(`${order.to} is there already: run the command again`);
  expect([readdirSync(parent), readdirSync(order.to)]).toEqual([["copy"], ["theirs"]]);
  rmSync(parent, { recursive: true });
});

test("what a dead backup has left goes with every file that it may have been writing", async () => {
  const parent = mkdtempSync(join(tmpdir(), "postrider-backup-"));
  const draft = join(parent, "copy.partial-abc123");
  mkdirSync(draft);
  takeLifeline(draft, "backup").release();
  for (const name of ["postrider.db", "postrider.db-journal", "master.key", "sandbox.json", "backup.json"])
    writeFileSync(join(draft, name), "");
  const told: string[] = [];
  const onLeft = (words: string) => void told.push(words);
  await inNewFolder({ to: join(parent, "copy"), now: 0, onCutOff: () => {}, onLeft }, async () => MANIFEST);
  expect(readdirSync(parent)).toEqual(["copy"]);
  expect(told).toEqual([`deleted ${draft}, which a backup that was cut off had left`]);
  rmSync(parent, { recursive: true });
});
