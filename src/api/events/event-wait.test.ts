/** Requests that wait for events of several accounts share one listener at the store. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { OtherEvent } from "../../core/webhooks/feed-event.ts";
import type { FeedPage } from "../../store/store.ts";
import { createEventWait, type EventWaitDeps } from "./event-wait.ts";

const NOBODY = new AbortController().signal;

/** The feed's listeners, and waiting requests that see what has been committed to their accounts. */
function setUp() {
  const clock = createHeldClock();
  const listeners = new Set<{ readonly tell: (accountId: string) => void }>();
  const events: OtherEvent[] = [];
  const feed: EventWaitDeps["feed"] = {
    onEvents(tell) {
      const listener = { tell };
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const eventWait = createEventWait({ feed, clock, isLeaving: () => false });
  return {
    clock,
    listeners,
    commit(accountId: string) {
      events.push({ kind: "other", id: accountId, type: "sms.received", at: 0, data: {} });
      for (const { tell } of listeners) tell(accountId);
    },
    wait(accountId: string, signal = NOBODY) {
      const looked = Promise.withResolvers<void>();
      const read = async (): Promise<FeedPage> => {
        looked.resolve();
        return { events: events.filter(({ id }) => id === accountId), next: 0 };
      };
      const page = eventWait({ accountId, waitMs: 30_000, signal }, read);
      return { looked: looked.promise, events: page.then(({ events }) => events.length) };
    },
  };
}

test("all who wait for an account are told of one commit, also once one of them has gone", async () => {
  const { listeners, commit, wait } = setUp();
  const gone = new AbortController();
  const waiting = [wait("a"), wait("a", gone.signal), wait("a")];
  await Promise.all(waiting.map(({ looked }) => looked));
  expect(listeners.size).toBe(1);
  gone.abort();
  expect(await waiting[1]?.events).toBe(0);
  expect(listeners.size).toBe(1);
  commit("a");
  expect(await Promise.all(waiting.map(({ events }) => events))).toEqual([1, 0, 1]);
  expect(listeners.size).toBe(0);
});

test("who waits for another account goes on waiting by the same listener, and is told of its own", async () => {
  const { listeners, commit, wait } = setUp();
  const [one, other] = [wait("a"), wait("b")];
  await Promise.all([one.looked, other.looked]);
  commit("a");
  expect(await one.events).toBe(1);
  expect(listeners.size).toBe(1);
  commit("b");
  expect(await other.events).toBe(1);
  expect(listeners.size).toBe(0);
  const again = wait("c");
  await again.looked;
  expect(listeners.size).toBe(1);
  commit("c");
  expect(await again.events).toBe(1);
});

test("no more than two thousand wait at a time, whoever they are, and another may once some have gone", async () => {
  const { commit, wait } = setUp();
  const accounts = Array.from({ length: 40 }, (_, number) => `account ${number}`);
  const waiting = accounts.flatMap((account) => Array.from({ length: 50 }, () => wait(account)));
  await Promise.all(waiting.map(({ looked }) => looked));
  await expect(wait("another").events).rejects.toMatchObject({ status: 429 });
  commit("account 0");
  await Promise.all(waiting.slice(0, 50).map(({ events }) => events));
  const last = wait("another");
  await last.looked;
  for (const account of [...accounts, "another"]) commit(account);
  expect(await last.events).toBe(1);
  await Promise.all(waiting.map(({ events }) => events));
});
