import type { Share } from "../../channels/channel.ts";
import type { SlotLease } from "../../store/store.ts";
import { createOwnSlots, type OwnSlots, type OwnSlotsOptions } from "./own-slots.ts";
import type { PeerSlots } from "./peer-slots.ts";

/** This process's share of a connector's slots, until it is closed. */
export interface OwnShare extends Share {
  /** Sets the probe that tells the other processes whether messages can leave, or are to wait, for this process's slots. */
  tellUp(isUp: () => boolean): void;
  /** To be called when the probe's answer may have changed: if it has, the others are told at once. */
  lookUp(): void;
  /** To be called when nothing is sent through the share any more. */
  close(): void;
}

/** The shares of this process. */
export interface OwnShares {
  /** See `Shares`. */
  join(connector: string, slots: number): OwnShare;
  /** Of each connector the share that was joined last. The channels of those before it are being stopped. */
  latest(): readonly OwnSlots[];
  isHeld(lease: SlotLease): boolean;
}

interface OwnSharesOptions extends Pick<OwnSlotsOptions, "process" | "isValid" | "clock" | "onNews"> {
  readonly peerSlots: Pick<PeerSlots, "watch" | "forget">;
}

export function createOwnShares({ peerSlots, ...options }: OwnSharesOptions): OwnShares {
  const { process, onNews } = options;
  /** For each connector, the shares that are not closed, latest last. */
  const open = new Map<string, readonly OwnSlots[]>();
  const latestOf = (connector: string) => open.get(connector)?.at(-1);
  return {
    join(connector, slots) {
      const own = createOwnSlots({ ...options, connector, slots, before: latestOf(connector)?.places });
      open.set(connector, [...(open.get(connector) ?? []), own]);
      peerSlots.watch(connector, slots);
      onNews();
      return {
        ...own.share,
        close() {
          own.close();
          const left = (open.get(connector) ?? []).filter((each) => each !== own);
          if (left.length > 0) open.set(connector, left);
          else {
            open.delete(connector);
            peerSlots.forget(connector);
          }
          onNews();
        },
      };
    },
    latest: () => [...open.values()].flatMap((shares) => shares.at(-1) ?? []),
    isHeld: ({ process: holder, name, slot }) =>
      holder === process && latestOf(name)?.slots().includes(slot) === true,
  };
}
