import type { Channel, ChannelDeps, ChannelStatus } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { Connector } from "../../core/records/accounts.ts";
import type { OwnShare } from "../shares/own-shares.ts";
import type { Shares } from "../shares/shares.ts";
import { createHealth, type Health } from "./health.ts";
import { createLargeLimit } from "./large-limit.ts";
import { createOutlet, type Outlet } from "./outlet.ts";
import type { HasReceipt } from "./receipt-watch.ts";
import { createStatusLog } from "./status-log.ts";
import { createThrottle, type Throttle } from "./throttle.ts";

export interface OutletsDeps {
  readonly open: OpenChannel;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when slots may have become free: a channel came up, an answer came, or reserved slots were given back. */
  readonly onSlots: () => void;
  /** Absent: no other process uses the connectors. */
  readonly shares?: Shares;
  /** Whether a message has had a receipt, as the store knows. It is asked only if there may be other processes. */
  readonly hasReceipt: HasReceipt;
  /** How many slots a connector has that only one process at a time may use; `undefined`: it has no such slots. */
  readonly slotsOf: (connector: Connector) => number | undefined;
}

/** Opens a connector's channel; `undefined` for a kind that this program does not know. Throws if the configuration is invalid. */
export type OpenChannel = (connector: Connector, given: GivenToChannel) => Channel | undefined;

/** What the delivery engine gives a channel. */
type GivenToChannel = Pick<ChannelDeps, "onSlots" | "onStatus" | "share" | "isRateUsed" | "memory">;

/** An open connector. */
export interface Opened {
  readonly outlet: Outlet;
  readonly throttle: Throttle;
  readonly share?: OwnShare;
}

export interface Opening extends Pick<GivenToChannel, "isRateUsed" | "memory"> {
  /** What the connector was opened as until now, if its settings have changed. */
  readonly before: Opened | undefined;
  /** The connector has been opened again, with other settings. */
  readonly isReplaced: () => boolean;
}

/** Opens a connector that is not started yet; `undefined` if it cannot be opened, which is logged. */
export function openOutlet(
  deps: OutletsDeps,
  connector: Connector,
  { before, isReplaced, isRateUsed, memory }: Opening,
): Opened | undefined {
  const share = joinShares(deps, connector);
  const logStatus = createStatusLog(deps, connector);
  const channel = openChannel(deps, connector, {
    ...(share && { share }),
    isRateUsed,
    memory,
    onSlots: deps.onSlots,
    onStatus: (status) => {
      // When a replaced channel ends, the connector does not: the log would call it stopped while it is up.
      if (!isReplaced()) logStatus(status);
      share?.lookUp();
      deps.onSlots();
    },
  });
  if (!channel) {
    share?.close();
    return undefined;
  }
  const part = share && (() => share.held().size / share.of);
  const rate = channel.keepsRate ? undefined : rateOf(connector);
  const counted = before ? { before: before.throttle } : { isUsed: isRateUsed };
  const throttle = createThrottle(deps.clock, rate, { part, ...counted });
  const outlet = createOutletOf(deps, connector, { channel, share, throttle });
  share?.tellUp(outlet.isOffered);
  return { outlet, throttle, ...(share && { share }) };
}

/**
 * `undefined` if the connector cannot be opened, which is logged. A newer program may have stored a kind or a configuration that
 * this one does not know, and that must not keep the other connectors, and all routes, from working.
 */
function openChannel(
  { open, log }: OutletsDeps,
  connector: Connector,
  given: GivenToChannel,
): Channel | undefined {
  const { id, kind } = connector;
  try {
    const channel = open(connector, given);
    if (!channel) log.error({ connector: id, kind }, "unknown kind of connector");
    return channel;
  } catch (error) {
    log.error({ err: error, connector: id, kind }, "a connector cannot be opened");
    return undefined;
  }
}

/** Into how many parts a rate is divided if the connector has nothing else to share. At most as many processes can use it. */
const RATE_SLOTS = 24;

/** `undefined` for a connector that has neither slots nor a rate: every process may use all of it. */
function joinShares({ shares, slotsOf, onSlots }: OutletsDeps, connector: Connector): OwnShare | undefined {
  const slots = slotsOf(connector) ?? (rateOf(connector) === undefined ? undefined : RATE_SLOTS);
  const share = slots === undefined ? undefined : shares?.join(connector.id, slots);
  share?.onChange(async () => onSlots());
  return share;
}

function createOutletOf(
  { clock, onSlots, shares, hasReceipt }: OutletsDeps,
  connector: Connector,
  { channel, share, throttle }: { channel: Channel; share: OwnShare | undefined; throttle: Throttle },
): Outlet {
  const isElsewhere = ({ state }: ChannelStatus) =>
    share !== undefined &&
    (shares?.isUpElsewhere(connector.id) === true ||
      (state === "stopped" && shares?.isMoving(connector.id) === true));
  const health = createHealth(clock, {
    keepsRate: channel.keepsRate === true,
    reachesMany: channel.reachesMany === true,
    isSimulated: channel.isSimulated === true,
    ...(shares && { hasReceipt }),
  });
  const largeLimit = createLargeLimit(clock, channel.largeAtATime ?? LARGE_AT_A_TIME);
  return createOutlet(channel, {
    clock,
    throttle,
    largeLimit,
    onSlots,
    isElsewhere,
    health: { ...health, attempt: attemptTold(health, share) },
  });
}

/** After an attempt that may have made the connector unhealthy, tells at once the processes that leave its messages to this one. */
function attemptTold(health: Health, share: OwnShare | undefined): Health["attempt"] {
  return (job, outcome) => {
    health.attempt(job, outcome);
    if (outcome.parts.some((part) => part && part.kind !== "sent")) share?.lookUp();
  };
}

/** How many large messages are sent at a time if the channel names no number. */
const LARGE_AT_A_TIME = 4;

/** Segments (SMS) or emails a second; every kind of connector has the field. */
function rateOf(connector: Connector): number | undefined {
  const rate = connector.config.max_per_second;
  return typeof rate === "number" && rate > 0 ? rate : undefined;
}
