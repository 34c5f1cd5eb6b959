import { expect, test } from "bun:test";
import { createWorld, rejection, SMS } from "../../contract/world.contract.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { openOn } from "../open-sqlite.ts";
import { VAULT } from "../sqlite-world.contract.ts";

/** A store on a driver that writes down every statement that changes something. */
async function openListening(faults: { readonly beforeCommit?: () => void } = {}) {
  const driver = openDriver(":memory:");
  const changes: string[] = [];
  const heard = <Answer>(sql: string, answer: Answer): Answer => {
    changes.push(sql);
    return answer;
  };
  const listening: Driver = {
    ...driver,
    prepare<Row>(sql: string) {
      const statement = driver.prepare<Row>(sql);
      return {
        ...statement,
        run: (...values) => heard(sql, statement.run(...values)),
        insert: (...values) => heard(sql, statement.insert(...values)),
      };
    },
  };
  const world = await createWorld(await openOn(listening, { vault: VAULT, faults }));
  return { ...world, changes };
}

test("an answer and the receipt right behind it change the message, and its id, once", async () => {
  const { sms, claimOne, settle, receive, history, status, changes, store } = await openListening();
  const [id = ""] = await sms();
  const job = await claimOne();
  changes.length = 0;
  await Promise.all([settle(job), receive(`p-${id}`)]);
  expect(changes.filter((sql) => /^UPDATE messages/.test(sql))).toHaveLength(1);
  expect(changes.filter((sql) => /provider_ids/.test(sql))).toHaveLength(1);
  expect(await status(id)).toBe("delivered");
  expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered"]);
  const flagged = await store.receipts.flagOverdue({
    now: 2,
    sentBefore: Number.MAX_SAFE_INTEGER,
    limit: 10,
  });
  expect(flagged).toBe(0);
  await store.close();
});

test("what was put off is kept when another call of the turn fails, and all are tried apart", async () => {
  const { sms, claimOne, settle, receive, history, store, account, clock } = await openListening();
  const [message = ""] = await sms();
  const job = await claimOne();
  const again = store.intake.accept({
    accountId: account.id,
    flow: "single",
    content: SMS,
    messages: [
      {
        id: message,
        recipient: "+1",
        status: "queued",
        parts: [],
        expiresAt: clock.now,
        jobs: [{ queue: "q" }],
      },
    ],
  });
  const [failed] = await Promise.all([rejection(again), settle(job), receive(`p-${message}`)]);
  expect(String(failed)).toContain("UNIQUE");
  expect(await history(message)).toEqual(["attempt:sent", "receipt:delivered"]);
  await store.close();
});

test("what was put off in a transaction that fails is forgotten with it", async () => {
  const dial = { fails: false };
  const beforeCommit = () => {
    if (dial.fails) throw new Error("injected");
  };
  const { sms, claimOne, settle, receive, history, status, store } = await openListening({ beforeCommit });
  const [id = ""] = await sms();
  const job = await claimOne();
  dial.fails = true;
  const refused = await Promise.all([rejection(settle(job)), rejection(receive(`p-${id}`))]);
  expect(refused.map(String)).toEqual(
    Array(2).fill("StoreUnavailable: the database did not commit: injected"),
  );
  dial.fails = false;
  expect(await receive(`p-${id}`)).toEqual([{ kind: "parked" }]);
  expect(await status(id)).toBe("sending");
  await settle(job);
  expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered"]);
  await store.close();
});

test("what a call had put off before it failed is forgotten, and not written with the call behind it", async () => {
  const { sms, claimOne, settle, history, status, store } = await openListening();
  const [bad = ""] = await sms();
  const badJob = await claimOne();
  const [good = ""] = await sms();
  const goodJob = await claimOne();
  // An id that is none fails where ids are noted, behind the message.
  const outcomes = [{ kind: "sent", providerMessageIds: [undefined as never] }] as const;
  const [failed] = await Promise.all([rejection(settle(badJob, { outcomes })), settle(goodJob)]);
  expect(failed).toBeInstanceOf(TypeError);
  expect([await status(bad), await history(bad)]).toEqual(["sending", []]);
  expect([await status(good), await history(good)]).toEqual(["sent", ["attempt:sent"]]);
  await store.close();
});
