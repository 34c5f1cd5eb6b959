/** What is remembered of opt-outs, for claims, is what is stored. */
import { expect, test } from "bun:test";
import { createWorld } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

const NUMBER = "+919812345678";

test("an opt-out whose removal was rolled back holds, also where a claim looked for it meanwhile", async () => {
  const disk = { isFull: false };
  const beforeCommit = () => {
    if (disk.isFull) throw new Error("the disk is full");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const { account, id, clock, sms, claim, claimOne } = await createWorld(store);
  const optOut = { id: id(), accountId: account.id, recipient: NUMBER, reason: "r", createdAt: clock.now };
  await store.records.create("optOuts", optOut);
  await sms({ to: [NUMBER] });
  disk.isFull = true;
  const lost = await Promise.allSettled([store.records.remove("optOuts", optOut.id), claim()]);
  expect(lost.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  disk.isFull = false;
  expect(await claimOne()).toMatchObject({ recipient: NUMBER, isOptedOut: true });
  await store.close();
});
