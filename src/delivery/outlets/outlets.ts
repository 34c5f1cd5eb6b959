import type { Channel, ChannelStatus, ConnectorMemory, Share } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { Connector } from "../../core/records/accounts.ts";
import { MOVE_MS } from "../shares/peer-slots.ts";
import type { OwnShare, Shares } from "../shares/shares.ts";
import { createHealth, type Health } from "./health.ts";
import { createLargeLimit } from "./large-limit.ts";
import { createOutlet, type Outlet } from "./outlet.ts";
import type { HasReceipt } from "./receipt-watch.ts";
import { createStatusLog } from "./status-log.ts";
import { createThrottle, type Throttle } from "./throttle.ts";

/** Opens a connector's channel; `undefined` for a kind that this program does not know. Throws if the configuration is invalid. */
export type OpenChannel = (connector: Connector, given: GivenToChannel) => Channel | undefined;

/** What the delivery engine gives a channel; see `ChannelDeps`. */
interface GivenToChannel {
  readonly onSlots: () => void;
  readonly onStatus: (status: ChannelStatus) => void;
  readonly share?: Share;
  readonly isRateUsed: boolean;
  readonly memory: ConnectorMemory;
}

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

/** The open channels, kept in step with the configured connectors. */
export interface Outlets {
  /** Opens new connectors, lets changed ones go on or reopens them, and stops those that were deleted or disabled. */
  reconcile(connectors: readonly Connector[]): void;
  get(connectorId: string): Outlet | undefined;
  all(): readonly Outlet[];
  stop(): Promise<void>;
}

export function createOutlets(deps: OutletsDeps): Outlets {
  const open = new Map<string, Open>();
  const closing = new Set<Promise<void>>();
  const memories = createMemories();

  const close = (id: string) => {
    const entry = open.get(id);
    if (!entry) return;
    open.delete(id);
    const stopped = entry.outlet.channel.stop().finally(() => {
      closing.delete(stopped);
      entry.share?.close();
    });
    closing.add(stopped);
  };

  const reopen = (connector: Connector, settings: string) => {
    const { id, kind } = connector;
    const before = open.get(id);
    close(id);
    let opened: Opened | undefined;
    const isReplaced = () => open.has(id) && open.get(id)?.outlet !== opened?.outlet;
    opened = openOutlet(deps, connector, { before, isReplaced, ...memories.for(connector) });
    if (opened) open.set(id, { ...opened, kind, settings });
    opened?.outlet.channel.start();
  };

  return {
    reconcile(connectors) {
      memories.keep(connectors);
      const wanted = new Map(connectors.filter((each) => each.isEnabled).map((each) => [each.id, each]));
      for (const id of [...open.keys()]) if (!wanted.has(id)) close(id);
      for (const connector of wanted.values()) {
        const settings = JSON.stringify([connector.config, connector.secrets]);
        const known = open.get(connector.id);
        if (known?.kind !== connector.kind) reopen(connector, settings);
        else if (known.settings !== settings) {
          if (known.outlet.channel.applySettings?.(connector)) goOn(known, settings);
          else reopen(connector, settings);
        }
      }
    },
    get: (connectorId) => open.get(connectorId)?.outlet,
    all: () => [...open.values()].map((entry) => entry.outlet),
    async stop() {
      for (const id of [...open.keys()]) close(id);
      await Promise.all(closing);
    },
  };
}

/** Goes on by changed settings. What went wrong before may be what they set right, as where the connector is opened anew. */
function goOn(open: Open, settings: string): void {
  open.settings = settings;
  open.outlet.resetHealth();
}

/** The memory of each connector, from when it is first opened until it is deleted: not only while it is enabled. */
function createMemories() {
  const memories = new Map<string, ConnectorMemory>();
  let keeps = 0;
  return {
    /** What is to be known when it is opened. At the start a process that ended a moment ago may have sent over it. */
    for({ id }: Connector): Pick<Opening, "isRateUsed" | "memory"> {
      const isRateUsed = keeps === 1 || memories.has(id);
      const memory = memories.get(id) ?? createMemory();
      memories.set(id, memory);
      return { isRateUsed, memory };
    },
    /** Forgets the connectors that are not among these. To be called once for each change of connectors, before they are opened. */
    keep(connectors: readonly Connector[]): void {
      keeps++;
      const kept = new Set(connectors.map(({ id }) => id));
      for (const id of memories.keys()) if (!kept.has(id)) memories.delete(id);
    },
  };
}

function createMemory(): ConnectorMemory {
  const kept = new Map<() => unknown, unknown>();
  return <Kept>(make: () => Kept): Kept => {
    if (!kept.has(make)) kept.set(make, make());
    return kept.get(make) as Kept;
  };
}

/** An open connector, and the settings that its channel goes by. */
interface Open extends Opened {
  readonly kind: string;
  settings: string;
}

interface Opened {
  readonly outlet: Outlet;
  readonly throttle: Throttle;
  readonly share?: OwnShare;
}

interface Opening {
  /** What the connector was opened as until now, if its settings have changed. */
  readonly before: Opened | undefined;
  /** The connector has been opened again, with other settings. */
  readonly isReplaced: () => boolean;
  /** See `ChannelDeps`. */
  readonly isRateUsed: boolean;
  readonly memory: ConnectorMemory;
}

function openOutlet(
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
  if (channel) {
    const part = share && (() => share.held().size / share.of);
    const rate = channel.keepsRate ? undefined : rateOf(connector);
    const counted = before ? { before: before.throttle } : { isUsed: isRateUsed };
    const throttle = createThrottle(deps.clock, rate, { part, ...counted });
    const outlet = createOutletOf(deps, connector, { channel, share, throttle });
    share?.tellUp(outlet.isOffered);
    return { outlet, throttle, ...(share && { share }) };
  }
  share?.close();
  return undefined;
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
    isOpening: (own) => isOpening(own, clock),
  });
}

/** After an attempt that may have made the connector unhealthy, tells at once the processes that leave its messages to this one. */
function attemptTold(health: Health, share: OwnShare | undefined): Health["attempt"] {
  return (job, outcome) => {
    health.attempt(job, outcome);
    if (outcome.parts.some((part) => part && part.kind !== "sent")) share?.lookUp();
  };
}

/** Whether the channel is being opened and has not failed yet. After `MOVE_MS` its messages go over others until it is up. */
function isOpening({ state, reason, since }: ChannelStatus, clock: Clock): boolean {
  const ageMs = clock.now() - since;
  // Setting the wall clock does not prolong it.
  return state === "connecting" && reason === undefined && ageMs >= 0 && ageMs < MOVE_MS;
}

/** How many large messages are sent at a time if the channel names no number. */
const LARGE_AT_A_TIME = 4;

/** Segments (SMS) or emails a second; every kind of connector has the field. */
function rateOf(connector: Connector): number | undefined {
  const rate = connector.config.max_per_second;
  return typeof rate === "number" && rate > 0 ? rate : undefined;
}
