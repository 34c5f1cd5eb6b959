import type { Clock } from "../../../core/clock.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { createNotifier } from "../../notifier.ts";
import type { Store } from "../../store.ts";
import type { PostgresStore } from "../open-postgres.ts";
import type { CopyWatch } from "./copy-watch.ts";
import { openMessenger } from "./messenger.ts";

type Topic = "queue" | "lane" | "events";

/** Adds the signals of other processes on the same database to a store: a commit in one of them wakes the listeners in all. */
export function hearOthers(
  { onOther, ...store }: PostgresStore,
  options: { readonly url: string; readonly clock: Clock; readonly copies?: CopyWatch },
): Store {
  const others = {
    queue: createNotifier<string>(),
    lane: createNotifier<Lane>(),
    events: createNotifier<string>(),
  };
  const messenger = openMessenger({
    ...options,
    hear(word) {
      const [topic, name, host] = word.split(" ", 3);
      if (name === undefined) return;
      if (topic === "queue") others.queue.notify([name]);
      if (topic === "events") others.events.notify([name]);
      if (topic === "lane" && host !== undefined) others.lane.notify([{ accountId: name, host }]);
    },
  });
  onOther(messenger.renew);
  // Ids and hosts contain no spaces.
  const tell = (topic: Topic, ...names: readonly string[]) => messenger.tell([topic, ...names].join(" "));
  store.queue.onReady((queue) => tell("queue", queue));
  store.outbox.onReady(({ accountId, host }) => tell("lane", accountId, host));
  store.feed.onEvents((accountId) => tell("events", accountId));
  return {
    ...store,
    queue: { ...store.queue, onReady: both(store.queue.onReady, others.queue.subscribe) },
    outbox: { ...store.outbox, onReady: both(store.outbox.onReady, others.lane.subscribe) },
    feed: { ...store.feed, onEvents: both(store.feed.onEvents, others.events.subscribe) },
    async close() {
      await messenger.close();
      await store.close();
    },
  };
}

type Subscribe<Name> = (listener: (name: Name) => void) => () => void;

function both<Name>(one: Subscribe<Name>, other: Subscribe<Name>): Subscribe<Name> {
  return (listener) => {
    const unsubscribers = [one(listener), other(listener)];
    return () => {
      for (const unsubscribe of unsubscribers) unsubscribe();
    };
  };
}
