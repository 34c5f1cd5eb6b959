/** Two processes of which each has the only bind of one of a route's connectors: which of them takes messages. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { Channel } from "../../channels/channel.ts";
import type { Connector } from "../../core/records/accounts.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import { createShares, HEARTBEAT_MS } from "../shares/shares.ts";
import { createBalancer } from "./balancer.ts";
import { chooseOutlets, placesOf } from "./choose-outlets.ts";
import type { OpenChannel } from "./open-outlet.ts";
import { createOutlets } from "./outlets.ts";

/** Connectors whose only slots two processes divide so that each has one of them. */
const ROUTE = { connectorIds: ["smsc-0", "smsc-1"] };

const CONNECTORS = ROUTE.connectorIds.map(
  (id): Connector => ({ id, name: id, kind: "smpp", config: {}, secrets: {}, isEnabled: true, createdAt: 0 }),
);

const log = { isDebug: () => false, debug() {}, info() {}, warn() {}, error() {} };

type Open = Parameters<OpenChannel>[1];

/** A channel that is up while its process holds the slot. */
function channelOf({ id }: Connector, { share }: Open): Channel {
  const isUp = () => share?.held().size === 1;
  const status = () => ({ state: isUp() ? "up" : "stopped", since: 0 });
  return { connectorId: id, status, freeSlots: () => (isUp() ? 10 : 0), start() {} } as unknown as Channel;
}

function openProcess(clock: ReturnType<typeof createHeldClock>, leases = createLeases()) {
  let count = 0;
  return () => {
    const process = `process ${count++}`;
    const shares = createShares({ leases, clock, log, process, isSharing: true });
    void shares.start();
    const deps = {
      clock,
      log,
      shares,
      onSlots() {},
      slotsOf: () => 1,
      hasReceipt: async () => true,
    };
    const outlets = createOutlets({ ...deps, open: channelOf });
    outlets.reconcile(CONNECTORS);
    const balancer = createBalancer(clock);
    return {
      outletOf: outlets.get,
      /** By which connector the next message would leave here; `undefined`: by none. */
      takes() {
        const choice = chooseOutlets(placesOf(ROUTE, outlets.get));
        const reservation = choice && balancer.reserve(choice, 1);
        const outlet = reservation?.next();
        outlet?.unreserve(1);
        reservation?.release();
        return outlet?.channel.connectorId;
      },
    };
  };
}

test("while a connector is unhealthy, messages leave by the next one, also where that is bound in another process", async () => {
  const clock = createHeldClock();
  const start = openProcess(clock);
  const both = [start(), start()];
  await clock.advance(5 * HEARTBEAT_MS);
  const taking = () => both.map(({ takes }) => takes()).toSorted();
  expect(taking()).toEqual(["smsc-0", undefined]);

  const holder = both.find(({ takes }) => takes() === "smsc-0")!;
  const note = (kind: "deferred" | "sent") => {
    const part = { kind, error: { code: "x", message: "x" }, providerMessageIds: [] };
    const job = { messageId: "m", progress: { channel: "sms", parts: [] } } as never;
    holder.outletOf("smsc-0")!.noteAttempt(job, { parts: [part], countsAsAttempt: true } as never);
  };
  for (let attempts = 0; attempts < 7; attempts++) note("deferred");
  // The holder tells at once; the other hears of it with its next heartbeat.
  await clock.advance(HEARTBEAT_MS);
  // Besides, the one that is passed over is tried.
  expect(taking()).toEqual(["smsc-0", "smsc-1"]);
  expect(taking()).toEqual(["smsc-1", undefined]);

  note("sent");
  await clock.advance(2 * HEARTBEAT_MS);
  expect(taking()).toEqual(["smsc-0", undefined]);
});
