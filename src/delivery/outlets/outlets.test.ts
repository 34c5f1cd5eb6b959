import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { deferred, sms } from "../../../test/progress-samples.ts";
import type { Channel, ChannelStatus, OutgoingMessage } from "../../channels/channel.ts";
import type { Connector } from "../../core/records/accounts.ts";
import type { OwnShare } from "../shares/own-shares.ts";
import type { Shares } from "../shares/shares.ts";
import type { OpenChannel } from "./open-outlet.ts";
import { createOutlets } from "./outlets.ts";

function connector(id: string, change: Partial<Connector> = {}): Connector {
  return { id, name: id, kind: "smpp", config: {}, secrets: {}, isEnabled: true, createdAt: 0, ...change };
}

type Listeners = Parameters<OpenChannel>[1];

/** The channels that were opened, what happened to them, and the shares that were joined. */
function open({ applies }: { applies?: (changed: Connector) => boolean } = {}) {
  const clock = createHeldClock();
  const happened: string[] = [];
  const asked: Connector[] = [];
  const logged: string[] = [];
  const listeners = new Map<string, Listeners>();
  const stops = new Map<string, () => void>();
  const shares = openShares(happened);
  let slotsTold = 0;
  const status: { state: ChannelStatus["state"]; reason?: string } = { state: "up" };
  const channelOf = (id: string): Channel =>
    ({
      connectorId: id,
      freeSlots: () => 100,
      start: () => happened.push(`start ${id}`),
      stop: () =>
        new Promise<void>((resolve) => {
          happened.push(`stop ${id}`);
          stops.set(id, resolve);
        }),
      status: () => ({ since: 0, ...status }),
      ...(applies && {
        applySettings(changed: Connector) {
          asked.push(changed);
          return applies(changed);
        },
      }),
    }) as unknown as Channel;
  const outlets = createOutlets({
    open({ id, kind }, given) {
      listeners.set(id, given);
      if (kind === "unreadable") throw new Error("its configuration is invalid");
      return kind === "unknown" ? undefined : channelOf(id);
    },
    clock,
    log: {
      isDebug: () => false,
      debug() {},
      info: (_, text) => void logged.push(text),
      warn() {},
      error: ({ connector }, text) => void logged.push(`${connector}: ${text}`),
    },
    onSlots: () => void slotsTold++,
    shares: shares.shares,
    hasReceipt: async () => false,
    slotsOf: ({ config }) => config.slots as number | undefined,
  });
  return {
    clock,
    asked,
    happened,
    listeners,
    logged,
    outlets,
    status,
    stops,
    ...shares,
    slotsTold: () => slotsTold,
  };
}

function openShares(happened: string[]) {
  const held = new Set<number>();
  const elsewhere = new Set<string>();
  const moving = new Set<string>();
  const changes: (() => Promise<void>)[] = [];
  const probes: (() => boolean)[] = [];
  const join = (id: string, slots: number): OwnShare => {
    happened.push(`join ${id} ${slots}`);
    return {
      of: slots,
      held: () => held,
      onChange: (listener) => void changes.push(listener),
      tellUp: (isUp) => void probes.push(isUp),
      lookUp: () => void happened.push(`look ${id}`),
      close: () => void happened.push(`leave ${id}`),
    };
  };
  const isUpElsewhere = (id: string) => elsewhere.has(id);
  const isMoving = (id: string) => moving.has(id);
  const shares = { join, isUpElsewhere, isMoving } as Partial<Shares> as Shares;
  return { held, elsewhere, moving, changes, probes, shares };
}

test("a connector is opened again only where how it connects has changed, and closed when it is disabled or gone", () => {
  const { happened, outlets } = open();
  outlets.reconcile([connector("a"), connector("b")]);
  outlets.reconcile([connector("a", { name: "new name" }), connector("b")]);
  expect(happened.splice(0)).toEqual(["start a", "start b"]);
  for (const change of [{ secrets: { password: "p" } }, { config: { host: "h" } }, { kind: "http" }]) {
    outlets.reconcile([connector("a", change), connector("b")]);
    expect(happened.splice(0)).toEqual(["stop a", "start a"]);
  }
  outlets.reconcile([connector("b", { isEnabled: false })]);
  expect(happened.toSorted()).toEqual(["stop a", "stop b"]);
  expect([outlets.get("a"), outlets.all()]).toEqual([undefined, []]);
});

test("a channel that can go on with changed settings does, and is asked again only after the next change", () => {
  const { asked, happened, outlets } = open({ applies: ({ config }) => config.rate !== undefined });
  const reconcile = (...changes: Partial<Connector>[]) => {
    for (const change of changes) outlets.reconcile([connector("a", change)]);
    return [asked.splice(0).length, ...happened.splice(0)];
  };
  expect(reconcile({})).toEqual([0, "start a"]);
  const outlet = outlets.get("a");
  expect(reconcile({ config: { rate: 1 } }, { config: { rate: 1 } })).toEqual([1]);
  expect(outlets.get("a")).toBe(outlet!);
  expect(reconcile({ config: { rate: 1 }, secrets: { password: "p" } })).toEqual([1]);
  expect(reconcile({ config: { host: "h" } })).toEqual([1, "stop a", "start a"]);
  expect(reconcile({ config: { rate: 1 }, kind: "http" })).toEqual([0, "stop a", "start a"]);
});

test("what went wrong before a change of settings says nothing against the connector after it, opened anew or not", () => {
  const { outlets } = open({ applies: ({ config }) => config.host === undefined });
  const scoreAfter = (config: Connector["config"]) => {
    outlets.reconcile([connector("a", { config })]);
    const outlet = outlets.get("a")!;
    const before = outlet.health().score;
    for (let index = 0; index < 10; index++)
      outlet.noteAttempt(
        { messageId: `m${index}`, progress: sms() },
        { parts: [deferred], countsAsAttempt: true },
      );
    return [before, outlet.health().score < 0.5];
  };
  expect(scoreAfter({})).toEqual([1, true]);
  expect(scoreAfter({ ton: 5 })).toEqual([1, true]);
  expect(scoreAfter({ host: "h" })).toEqual([1, true]);
});

test("what a connector's channels leave to each other is kept until it is deleted, and is no other connector's", () => {
  const { listeners, outlets } = open();
  let made = 0;
  const makeNumber = () => ++made;
  const keptAfter = (...connectors: readonly Connector[]) => {
    outlets.reconcile(connectors);
    return listeners.get("a")?.memory(makeNumber);
  };
  expect(keptAfter(connector("a"), connector("b"))).toBe(1);
  expect(listeners.get("b")?.memory(makeNumber)).toBe(2);
  expect(keptAfter(connector("a", { config: { host: "h" } }))).toBe(1);
  expect(listeners.get("a")?.memory(() => "of another kind")).toBe("of another kind");
  keptAfter(connector("a", { isEnabled: false }));
  expect(keptAfter(connector("a"))).toBe(1);
  keptAfter();
  expect(keptAfter(connector("a"))).toBe(3);
});

test("the log tells of the sessions that a connector has now, not of the end of those before a change", () => {
  const { listeners, logged, outlets } = open();
  outlets.reconcile([connector("a")]);
  const before = listeners.get("a");
  outlets.reconcile([connector("a", { config: { host: "h" } })]);
  const after = listeners.get("a");
  after?.onStatus({ state: "up", since: 0 });
  before?.onStatus({ state: "stopped", since: 0 });
  expect(logged).toEqual(["connector is up"]);
  outlets.reconcile([]);
  after?.onStatus({ state: "stopped", since: 0 });
  expect(logged).toEqual(["connector is up", "connector is stopped"]);
});

test("a stop waits for every channel, those that were being closed included", async () => {
  const { clock, happened, outlets, stops } = open();
  outlets.reconcile([connector("a"), connector("b")]);
  outlets.reconcile([connector("b")]);
  void outlets.stop().then(() => happened.push("stopped"));
  stops.get("b")?.();
  await clock.advance(0);
  expect(happened).not.toContain("stopped");
  stops.get("a")?.();
  await clock.advance(0);
  expect(happened).toContain("stopped");
});

test("a share is left when the channel has stopped, or could not be opened", async () => {
  const { clock, happened, outlets, stops } = open();
  outlets.reconcile([connector("a", { config: { slots: 3 } })]);
  outlets.reconcile([]);
  await clock.advance(0);
  expect(happened).toEqual(["join a 3", "start a", "stop a"]);
  stops.get("a")?.();
  await clock.advance(0);
  expect(happened.splice(0).at(-1)).toBe("leave a");
  outlets.reconcile([connector("b", { kind: "unknown", config: { slots: 2 } })]);
  expect(happened).toEqual(["join b 2", "leave b"]);
});

test("a connector that cannot be opened, as where a newer program has stored it, keeps no other one from being opened", () => {
  const { happened, logged, outlets } = open();
  const unreadable = connector("b", { kind: "unreadable", config: { slots: 2 } });
  outlets.reconcile([connector("a"), unreadable, connector("c")]);
  expect(happened.splice(0)).toEqual(["start a", "join b 2", "leave b", "start c"]);
  expect(outlets.all().map(({ channel }) => channel.connectorId)).toEqual(["a", "c"]);
  expect(logged).toEqual(["b: a connector cannot be opened"]);
  outlets.reconcile([connector("a"), connector("b"), connector("c")]);
  expect(happened).toEqual(["start b"]);
});

test("what was sent before the settings were changed counts towards the rate after it", async () => {
  const { clock, held, outlets } = open();
  for (let slot = 0; slot < 24; slot++) held.add(slot);
  const opened = (...config: readonly Connector["config"][]) => {
    for (const each of config) outlets.reconcile([connector("a", { config: each })]);
    return outlets.get("a")!;
  };
  const email = { channel: "email" } as OutgoingMessage;
  for (let sent = 0; sent < 8; sent++) opened({ max_per_second: 8 }).handOver(email);
  expect(opened({ max_per_second: 8, host: "h" }).available()).toBe(0);
  expect(opened({ max_per_second: 8, host: "i" }, { max_per_second: 8, host: "j" }).available()).toBe(0);
  await clock.advance(1_010);
  expect(outlets.get("a")!.available()).toBe(8);
});

test("a rate without slots is shared in parts, of which this process uses those that it holds", () => {
  const { happened, held, outlets } = open();
  outlets.reconcile([]);
  outlets.reconcile([connector("a"), connector("b", { config: { max_per_second: 24 } })]);
  expect(happened).toContain("join b 24");
  expect(happened.some((each) => each.startsWith("join a"))).toBe(false);
  expect([outlets.get("a")?.available(), outlets.get("b")?.available()]).toEqual([100, 0]);
  for (let slot = 0; slot < 6; slot++) held.add(slot);
  // The bucket begins to fill now.
  expect(outlets.get("b")?.available()).toBe(0);
  expect(outlets.get("b")?.waitMs()).toBeLessThan(250);
});

test("workers are told when a status or a share changes, and other processes whether it is up here", async () => {
  const { changes, elsewhere, listeners, outlets, probes, slotsTold, status } = open();
  outlets.reconcile([connector("a", { config: { slots: 2 } })]);
  listeners.get("a")?.onStatus({ state: "up", since: 0 });
  listeners.get("a")?.onSlots();
  await changes[0]?.();
  expect(slotsTold()).toBe(3);
  expect(probes.map((isUp) => isUp())).toEqual([true]);
  status.state = "down";
  expect(probes.map((isUp) => isUp())).toEqual([false]);
  expect(outlets.get("a")?.isUp()).toBe(false);
  elsewhere.add("a");
  expect([outlets.get("a")?.isUp(), outlets.get("a")?.health().score]).toEqual([true, 1]);
});

test("what is being opened is waited for, 5 s at most, unless it has failed before; others are told that it is up", () => {
  const { clock, outlets, probes, status } = open();
  const now = clock.now();
  status.state = "connecting";
  outlets.reconcile([connector("a", { config: { slots: 2 } }), connector("b")]);
  const seen = (change: { since: number; reason?: string }) => {
    Object.assign(status, { reason: undefined }, change);
    const areUp = ["a", "b"].map((id) => outlets.get(id)?.isUp());
    return [...areUp, probes[0]?.()];
  };
  expect(seen({ since: now })).toEqual([true, true, true]);
  expect(seen({ since: now - 4_999 })).toEqual([true, true, true]);
  expect(seen({ since: now - 5_000 })).toEqual([false, false, false]);
  expect(seen({ since: now, reason: "refused" })).toEqual([false, false, false]);
  // The clock was set back since.
  expect(seen({ since: now + 60_000 })).toEqual([false, false, false]);
});

test("a connector that moves is waited for by a process without a slot, and not by one whose own is down", () => {
  const { moving, outlets, status } = open();
  outlets.reconcile([connector("a", { config: { slots: 2 } }), connector("b")]);
  for (const id of ["a", "b"]) moving.add(id);
  const seen = (state: ChannelStatus["state"]) => {
    status.state = state;
    return ["a", "b"].map((id) => outlets.get(id)?.isUp());
  };
  // One that nobody shares does not move.
  expect(seen("stopped")).toEqual([true, false]);
  expect(seen("down")).toEqual([false, false]);
  expect(outlets.get("a")?.health().problems).toEqual(["down"]);
});

test("the others are told at once that a channel came up or went down", () => {
  const { happened, listeners, outlets } = open();
  outlets.reconcile([connector("a", { config: { slots: 2 } })]);
  happened.splice(0);
  listeners.get("a")?.onStatus({ state: "down", since: 0 });
  expect(happened).toEqual(["look a"]);
});
