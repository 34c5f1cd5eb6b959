import type { Clock } from "../../../../core/clock.ts";
import { present } from "../../../../core/present.ts";
import { createInFlight } from "../../../../core/work/in-flight.ts";
import type { ChannelStatus, Share } from "../../../channel.ts";
import type { CredentialGate } from "./credential-gate.ts";
import { type BoundLink, keepBound, type LinkDeps, type LinkStatus } from "./keep-bound.ts";
import { createRivals, type Rivals } from "./rivals.ts";
import type { BindRole, Session, SessionEvents } from "./session.ts";

/** The binds of one connector. Each is kept up separately; together they have one status. */
export interface Binds {
  start(): void;
  /** The sessions that take submit_sm. */
  sessions(): readonly Session[];
  /** Ends a session gracefully, and opens another in its place; see `BoundLink`. */
  replace(session: Session, reason: string, minAgeMs?: number): void;
  /** Resolves once all binds are gone, also those that were being left, so that other processes may open theirs. */
  stop(): Promise<void>;
  /** The connector is up as long as one of the binds that submit is up. */
  status(): Omit<ChannelStatus, "rate">;
}

export interface BindsDeps extends Omit<LinkDeps, "open" | "onStatus" | "rivals"> {
  readonly roles: readonly BindRole[];
  /** A slot is one bind, or a transmitter with its receiver. Absent: all binds belong to this process. */
  readonly share?: Share;
  /** Opens a session in this role; see `LinkDeps`. */
  readonly open: (role: BindRole, events: Pick<SessionEvents, "onBound" | "onEnd">, turn: number) => Session;
  /** Called when the state changes, when the number of binds that are up changes, and when one more bind is down. */
  readonly onStatus: (isNewState: boolean) => void;
}

interface Bind {
  readonly index: number;
  readonly role: BindRole;
  readonly link: BoundLink;
}

export function createBinds({ roles, share, open, onStatus, ...deps }: BindsDeps): Binds {
  let phase: "new" | "running" | "stopped" = "new";
  const view = createView(deps.clock, onStatus);
  const leaving = createInFlight();
  const inRole = createInRole(deps.clock, open);
  /** This process's binds, by index. */
  let binds: readonly Bind[] = [];
  const isHeld = (index: number) => !share || share.held().has(slotOf(index, share, roles.length));
  const make = (role: BindRole, index: number): Bind => ({
    index,
    role,
    link: keepBound({
      ...deps,
      ...inRole(role),
      onStatus() {
        // While stopping, the first bind that is gone must not look as if the connector had lost it.
        if (phase !== "running") return;
        startOthers(binds);
        view.look(binds);
      },
    }),
  });
  const openHeld = () => {
    const known = new Map(binds.map((bind) => [bind.index, bind]));
    binds = roles.flatMap((role, index) => (isHeld(index) ? [known.get(index) ?? make(role, index)] : []));
    begin(binds, view);
  };
  /** Opens the binds that belong to this process now, and leaves those that no longer do; even while all are being left. */
  const reconcile = async (limitMs?: number) => {
    const left = binds.filter(({ index }) => !isHeld(index));
    if (phase === "running") openHeld();
    await leaving.add(Promise.all(left.map(({ link }) => link.stop(limitMs))));
  };
  share?.onChange(reconcile);
  return {
    start() {
      if (phase !== "new") return;
      phase = "running";
      void reconcile();
    },
    sessions: () => sessionsOf(share ? binds.filter(({ index }) => isHeld(index)) : binds),
    replace: (session, ...how) => binds.find(({ link }) => link.session() === session)?.link.replace(...how),
    async stop() {
      phase = "stopped";
      await Promise.all([leaving.whenEmpty(), ...binds.map(({ link }) => link.stop())]);
      view.look(binds);
    },
    status: () => statusOf(binds, view, deps.gate),
  };
}

/** The slot that a bind belongs to. */
const slotOf = (index: number, { of }: Share, binds: number): number => Math.floor((index * of) / binds);

/** What the binds of one role have to themselves. */
function createInRole(clock: Clock, open: BindsDeps["open"]) {
  const rivals: Readonly<Record<BindRole, Rivals>> = {
    transceiver: createRivals(clock),
    transmitter: createRivals(clock),
    receiver: createRivals(clock),
  };
  return (role: BindRole): Pick<LinkDeps, "open" | "rivals"> => ({
    open: (events, turn) => open(role, events, turn),
    rivals: rivals[role],
  });
}

function begin(binds: readonly Bind[], view: Pick<ReturnType<typeof createView>, "look">): void {
  binds[0]?.link.start();
  startOthers(binds);
  view.look(binds);
}

/** Starts the other binds once the first is up or down: with a wrong password, one refusal is enough. */
function startOthers([first, ...others]: readonly Bind[]): void {
  if (!first || !["up", "down"].includes(first.link.status().state)) return;
  for (const { link } of others) link.start();
}

function statusOf(
  binds: readonly Bind[],
  { state, since }: Pick<ChannelStatus, "state" | "since">,
  gate: CredentialGate,
): ReturnType<Binds["status"]> {
  const reason = reasonOf(binds, state);
  const alarm = gate.isClosed() ? ("bind_refused" as const) : undefined;
  return present({ state, since, reason, binds: { up: count(binds, "up"), of: binds.length }, alarm });
}

/** The state of all binds together, as of the last look. */
function createView(clock: Clock, onStatus: BindsDeps["onStatus"]) {
  let before = { up: 0, down: 0 };
  const view = {
    state: "stopped" as LinkStatus["state"],
    since: clock.now(),
    look(binds: readonly Bind[]) {
      const state = foldStates(binds.filter(carries).map(({ link }) => link.status().state));
      const counts = { up: count(binds, "up"), down: count(binds, "down") };
      const isNewState = state !== view.state;
      const isNews = isNewState || counts.up !== before.up || counts.down > before.down;
      if (isNewState) view.since = clock.now();
      view.state = state;
      before = counts;
      if (isNews) onStatus(isNewState);
    },
  };
  return view;
}

function count(binds: readonly Bind[], state: LinkStatus["state"]): number {
  return binds.filter(({ link }) => link.status().state === state).length;
}

function sessionsOf(binds: readonly Bind[]): readonly Session[] {
  const sessions: Session[] = [];
  for (const bind of binds) {
    const session = carries(bind) ? bind.link.session() : undefined;
    if (session) sessions.push(session);
  }
  return sessions;
}

function carries({ role }: Bind): boolean {
  return role !== "receiver";
}

function foldStates(states: readonly LinkStatus["state"][]): LinkStatus["state"] {
  const order = ["up", "connecting", "down"] as const;
  return order.find((state) => states.includes(state)) ?? "stopped";
}

function reasonOf(binds: readonly Bind[], state: LinkStatus["state"]): string | undefined {
  if (state === "stopped") return undefined;
  const missing = binds.filter(({ link }) => link.status().state !== "up");
  const reasons = missing.flatMap(({ link, role }) => {
    const { reason } = link.status();
    return reason === undefined ? [] : [{ role, reason }];
  });
  const [first] = reasons;
  if (!first || binds.length === 1) return first?.reason;
  return `${missing.length} of ${binds.length} binds are missing, a ${first.role}: ${first.reason}`;
}
