import { expect, test } from "bun:test";
import type { MessageStatus } from "../../../core/messages/message.ts";
import { createWorld, deferred, sent } from "../../contract/world.contract.ts";
import { openWithDriver } from "../sqlite-world.contract.ts";

const TWO = [1, 2].map((n) => ({ status: "pending", address: `a${n}@x.test` }) as const);
const JOBS = [
  { queue: "mail", parts: [0] },
  { queue: "mail", parts: [1] },
];

test("a message whose job is leased is sending wherever its status is asked for, and its row is left alone", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, claimOne, status, account } = await createWorld(store);
  const [tried = ""] = await sms();
  const job = await claimOne();
  const [waiting = ""] = await sms();
  expect(driver.prepare("SELECT DISTINCT status FROM messages").all()).toEqual([{ status: "queued" }]);
  expect(await status(tried)).toBe("sending");
  expect(await status(waiting)).toBe("queued");
  const listed = async (of: MessageStatus) => {
    const query = { accountId: account.id, channel: "sms", limit: 5, createdFrom: 0, status: of } as const;
    return (await store.messages.list(query)).messages.map(({ id, progress }) => [id, progress.status]);
  };
  expect(await listed("sending")).toEqual([[tried, "sending"]]);
  expect(await listed("queued")).toEqual([[waiting, "queued"]]);
  await store.queue.release([job], 1);
  expect(await listed("sending")).toEqual([]);
  await store.close();
});

test("an email that waits for one of its jobs is queued, whichever of them answered first", async () => {
  const { store } = await openWithDriver(":memory:");
  const { email, claim, settle, status, clock } = await createWorld(store);
  const id = await email({ parts: TWO, jobs: JOBS });
  const [one, other] = await claim(2, "mail");
  expect(await status(id, "email")).toBe("sending");
  const again = { kind: "again", dueAt: clock.now + 1_000 } as const;
  await settle(one!, { outcomes: [deferred(), undefined], next: again });
  expect(await status(id, "email")).toBe("queued");
  await settle(other!, { outcomes: [undefined, sent("p-2")] });
  expect(await status(id, "email")).toBe("queued");
  await store.close();
});
