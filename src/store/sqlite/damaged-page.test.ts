import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LARGE_BODY } from "../../core/email/large-body.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { acceptMail } from "../contract/messages/large-body.contract.ts";
import { createWorld, rejection, type World } from "../contract/world.contract.ts";
import { isOutage, RowPutOff } from "../store.ts";
import { inFolder, openWithDriver } from "./sqlite-world.contract.ts";

const NUMBERS = Array.from({ length: 300 }, (_, index) => `+14155550${100 + index}`);

/** Accepts the messages, and damages the page with the row of this number's. */
async function acceptThenDamage(path: string, recipient: string): Promise<void> {
  const { store } = await openWithDriver(path);
  await (await createWorld(store)).sms({ to: NUMBERS });
  await store.close();
  // The row has the status behind the number, which indexes do not.
  damagePages(path, (page) => page.includes(`${recipient}queued`));
}

function damagePages(path: string, isMeant: (page: Buffer) => boolean): void {
  const file = readFileSync(path);
  const pageSize = file.readUInt16BE(16);
  for (let at = 0; at < file.length; at += pageSize) {
    const page = file.subarray(at, at + pageSize);
    if (isMeant(page)) page.fill(0xff);
  }
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

test("a large email whose text is on a damaged page is not taken for a database that is away, and nothing else fails after it was read", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const first = await openWithDriver(path);
    const line = "All is well, and here is what we know of it.\n";
    await acceptMail(await createWorld(first.store), { bodyText: line.repeat(LARGE_BODY / 20) });
    await first.store.close();
    // Behind the number of the next page, such a page has nothing but text.
    damagePages(path, (page) => page.includes(line) && page.lastIndexOf(0) < 4);
    const { store } = await openWithDriver(path);
    const world = await createWorld(store);
    const { messageId } = await world.claimOne();
    const error = await rejection(Promise.resolve(store.queue.largeBody?.(messageId)));
    expect(error).toMatchObject({ name: "StoreDamaged" });
    expect(isOutage(error)).toBe(false);
    await new Promise(setImmediate);
    expect(await world.sms()).toHaveLength(1);
    await store.close();
  }));
