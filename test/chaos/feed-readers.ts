/** A reader for each account's event feed, which follows its cursor while everything else happens. */
import { readFeed } from "./client.ts";
import type { Request } from "./model.ts";
import type { AnyWorld } from "./world.ts";

/** The wait between two reads of a feed. */
const LOOK_MS = 40;

export interface FeedReaders {
  /** Resolves when each has read its feed to the end. */
  stop(): Promise<void>;
}

/** Keeps reading the feeds, from the running processes in turn. */
export function followFeeds<Asking extends Request>({ fleet, model }: AnyWorld<Asking>): FeedReaders {
  let isStopping = false;
  const loops = [...model.feeds].map(async ([account, events]) => {
    let after: string | undefined;
    for (let looks = 0, isLast = false; !isLast; looks++) {
      isLast = isStopping;
      const service = fleet.some((count) => looks % count);
      if (service) after = await readFeed(service, account, { after, events });
      if (!isLast) await Bun.sleep(LOOK_MS);
    }
  });
  return {
    async stop() {
      isStopping = true;
      await Promise.all(loops);
    },
  };
}
