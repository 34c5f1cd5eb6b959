import type { ConnectorMemory } from "../../channels/channel.ts";
import type { Connector } from "../../core/records/accounts.ts";
import { type Opened, type Opening, type OutletsDeps, openOutlet } from "./open-outlet.ts";
import type { Outlet } from "./outlet.ts";

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

/** With the settings that its channel goes by. */
interface Open extends Opened {
  readonly kind: string;
  settings: string;
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
