import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { createWorld, type World } from "../contract/world.contract.ts";
import { RowPutOff } from "../store.ts";
import { inFolder, openWithDriver } from "./sqlite-world.contract.ts";

const NUMBERS = Array.from({ length: 300 }, (_, index) => `+14155550${100 + index}`);

/** Accepts the messages, and damages the page with the row of this number's. */
async function acceptThenDamage(path: string, recipient: string): Promise<void> {
  const { store } = await openWithDriver(path);
  await (await createWorld(store)).sms({ to: NUMBERS });
  await store.close();
  const file = readFileSync(path);
  const pageSize = file.readUInt16BE(16);
  // The row has the status behind the number, which indexes do not.
  const page = Math.floor(file.indexOf(`${recipient}queued`) / pageSize);
  file.fill(0xff, page * pageSize, (page + 1) * pageSize);
  writeFileSync(path, file);
}

/** Claims what can be claimed; resolves with it, and with how many messages were put off. */
async function claimAll({ claim }: Pick<World, "claim">) {
  const claimed: ClaimedJob[] = [];
  let putOff = 0;
  for (;;) {
    const jobs = await claim(50).catch((error) => {
      if (!(error instanceof RowPutOff)) throw error;
      putOff++;
    });
    if (jobs?.length === 0) return { claimed, putOff };
    claimed.push(...(jobs ?? []));
  }
}

test("a damaged page keeps no messages from being claimed and settled but those on it, whatever shares their commit", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    await acceptThenDamage(path, "+14155550250");
    const { store } = await openWithDriver(path);
    const world = await createWorld(store);
    const { claimed, putOff } = await claimAll(world);
    expect(claimed.length + putOff).toBe(NUMBERS.length);
    expect(putOff).toBeLessThan(NUMBERS.length / 4);
    expect(claimed.map(({ recipient }) => recipient)).not.toContain("+14155550250");
    const results = await Promise.allSettled(claimed.map((job) => world.settle(job)));
    const failed = results.filter(({ status }) => status === "rejected");
    // Rows grow when they are settled, and then take room of the pages beside theirs: so may some next to the damaged one.
    expect(failed.length).toBeLessThan(NUMBERS.length / 2);
    for (const each of failed) expect(each).toMatchObject({ reason: { name: "StoreDamaged" } });
    await store.close();
  }));
