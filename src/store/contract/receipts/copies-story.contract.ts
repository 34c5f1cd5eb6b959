/** What may happen to the copies of an SMS at several connectors, and a model of a few lines that follows it. */
import fc from "fast-check";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { CONNECTOR, deferred, SECOND, sent, unconfirmed, type World } from "../world.contract.ts";
import { OTHER, THIRD, TO } from "./copies-world.contract.ts";

const CONNECTORS = [CONNECTOR, OTHER, THIRD];

/** How often each is tried, compared with the others: what leads far more often. */
const KINDS = {
  claim: 4,
  settle: 4,
  dies: 1,
  "settles too late": 1,
  "answers late": 3,
  "is on its way": 2,
  "has failed": 3,
  "has delivered": 1,
} as const;

type Kind = keyof typeof KINDS;

const kind = fc.constantFrom(
  ...Object.entries(KINDS).flatMap(([each, times]) => Array<Kind>(times).fill(each as Kind)),
);

type Outcome = "sent" | "unconfirmed" | "deferred";

const outcome = fc.constantFrom<Outcome[]>("sent", "unconfirmed", "unconfirmed", "deferred");

export const happening = fc.record({
  kind,
  /** Which of the connectors that may do it. */
  which: fc.nat(2),
  segment: fc.constantFrom(0, 1),
  /** Of each segment. */
  outcomes: fc.oneof(
    outcome.map((one): [Outcome, Outcome] => [one, one]),
    fc.tuple(outcome, outcome),
  ),
});

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** What a connector has of a segment, or may have. `lost`: its attempt was interrupted, so that nobody knows whose it was. */
interface Held {
  state: "under way" | "lost" | "silent" | "taken" | "failed" | "delivered";
  /** Later ones are higher. */
  readonly turn: number;
}

/** By connector. */
type Copies = Map<string, Held>;

/** Copies that may be delivered, as far as a failure is to wait for them: not those of earlier attempts that were never answered. */
export function awaited(copies: Copies): readonly string[] {
  const lastFailed = Math.max(
    ...[...copies.values()].map(({ state, turn }) => (state === "failed" ? turn : -1)),
  );
  return [...copies].flatMap(([connectorId, { state, turn }]) =>
    state === "taken" || state === "under way" || (state === "silent" && turn > lastFailed)
      ? [connectorId]
      : [],
  );
}

export function isDelivered(copies: Copies): boolean {
  return [...copies.values()].some(({ state }) => state === "delivered");
}

interface Tried {
  readonly job: ClaimedJob;
  readonly connectorId: string;
  /** The segments that it sends. */
  readonly sending: readonly number[];
}

export interface Story {
  readonly world: World;
  readonly id: string;
  readonly queue: string;
  readonly segments: readonly Copies[];
  /** Segments whose end is known. */
  readonly ended: Set<number>;
  /** The attempt under way. */
  tried?: Tried | undefined;
  /** Those whose leases have run out. */
  readonly lost: Tried[];
}

/** One SMS of so many segments, in a queue of its own. */
export async function begin(world: World, queue: string, count: number): Promise<Story> {
  const [id = ""] = await world.sms({ to: [TO], queue });
  const segments = Array.from({ length: count }, (): Copies => new Map());
  return { world, id, queue, segments, ended: new Set(), lost: [] };
}

export async function happen(story: Story, each: Happening): Promise<void> {
  const { which, segment } = each;
  if (each.kind === "claim") await claim(story, which);
  else if (each.kind === "settle") await settleNow(story, each.outcomes);
  else if (each.kind === "dies") await die(story);
  else if (each.kind === "settles too late") await settleTooLate(story, each.outcomes);
  else {
    const connectorId = oneOf([...(story.segments[segment]?.keys() ?? [])], which);
    if (connectorId !== undefined) await say(story, { kind: each.kind, connectorId, segment });
  }
}

function oneOf<T>(all: readonly T[], which: number): T | undefined {
  return all[which % all.length];
}

async function claim(story: Story, which: number): Promise<void> {
  const { world, queue, segments } = story;
  const unused = CONNECTORS.filter((each) => !segments.some((copies) => copies.has(each)));
  const connectorId = oneOf(unused, which);
  if (story.tried || connectorId === undefined) return;
  await stage(world);
  const [job] = await world.claim(1, queue);
  if (!job) return;
  const statusOf = (segment: number) => job.progress.parts[segment]?.status ?? "pending";
  const isToSend = (segment: number) => ["pending", "unconfirmed"].includes(statusOf(segment));
  const sending = [...segments.keys()].filter(isToSend);
  for (const segment of sending)
    segments[segment]?.set(connectorId, { state: "under way", turn: segments[segment].size });
  story.tried = { job, connectorId, sending };
}

async function stage({ clock, store }: World): Promise<void> {
  clock.now += 120 * SECOND;
  await store.queue.stage(clock.now, 10);
}

export async function settleNow(story: Story, kinds: Happening["outcomes"]): Promise<void> {
  if (story.tried) await settle(story, story.tried, kinds);
  story.tried = undefined;
}

/** A worker claims once more, and finds that nothing is left to be sent. */
export async function finish({ world, id, queue }: Story): Promise<void> {
  await stage(world);
  if ((await world.status(id)) !== "sent") return;
  const nothing = {
    countsAsAttempt: false,
    outcomes: [],
    keepsContent: false,
    next: { kind: "done" },
  } as const;
  for (const { jobId, claim, messageId } of await world.claim(1, queue))
    await world.store.queue.settle([{ jobId, claim, messageId, at: world.clock.now, ...nothing }]);
}

async function die(story: Story): Promise<void> {
  const { tried, segments, lost, world } = story;
  if (!tried) return;
  for (const segment of tried.sending) moveTo("lost", segments[segment]?.get(tried.connectorId));
  lost.push(tried);
  story.tried = undefined;
  await stage(world);
}

async function settleTooLate(story: Story, kinds: Happening["outcomes"]): Promise<void> {
  const tried = story.lost.shift();
  if (tried) await settle(story, tried, kinds);
}

async function settle(story: Story, tried: Tried, kinds: Happening["outcomes"]): Promise<void> {
  const { world, segments } = story;
  const { job, connectorId, sending } = tried;
  const outcomes = segments.map((_, segment) =>
    sending.includes(segment) ? toOutcome(story, tried, { segment, kind: kinds[segment] }) : undefined,
  );
  const next = { kind: "again", dueAt: world.clock.now } as const;
  const isOurs = await world.settle(job, { connectorId, outcomes, next });
  for (const segment of sending) {
    const kind = kinds[segment];
    if (kind === "deferred") segments[segment]?.delete(connectorId);
    else moveTo(stateAfter(kind, isOurs), segments[segment]?.get(connectorId));
  }
}

/** As the worker judges it: what an interrupted attempt may have sent stays in doubt. */
function toOutcome(
  story: Story,
  { job, connectorId }: Tried,
  { segment, kind }: { readonly segment: number; readonly kind: Outcome | undefined },
): PartOutcome {
  if (kind === "sent") return sent(idAt(story, connectorId, segment));
  const unsent = kind === "deferred" ? deferred() : unconfirmed();
  return { ...unsent, ...(job.wasInterrupted && { mayHaveLeft: true }) } as PartOutcome;
}

function stateAfter(kind: Outcome | undefined, isOurs: boolean): Held["state"] {
  if (kind === "sent") return "taken";
  return isOurs ? "silent" : "lost";
}

function moveTo(state: Held["state"], held: Held | undefined): void {
  if (held) held.state = state;
}

interface Word {
  readonly kind: Kind;
  readonly connectorId: string;
  readonly segment: number;
}

/** What the connector can say of its copy of a segment; nothing where that is too early, or its end is known. */
export async function say(story: Story, { kind, connectorId, segment }: Word): Promise<void> {
  const held = story.segments[segment]?.get(connectorId);
  if (story.ended.has(segment) || !held || ["under way", "lost", "failed"].includes(held.state)) return;
  const told = { connectorId, recipient: TO, reference: partReference(story.id, segment) };
  const id = idAt(story, connectorId, segment);
  if (kind === "has failed") {
    held.state = "failed";
    await story.world.receive(id, { ...told, status: "undelivered" });
  } else if (kind === "has delivered") {
    held.state = "delivered";
    await story.world.receive(id, { ...told, status: "delivered" });
  } else if (held.state === "silent") {
    held.state = "taken";
    if (kind === "answers late") await answerLate(story, connectorId, segment);
    else await story.world.receive(id, { ...told, status: "sent" });
  }
}

async function answerLate(story: Story, connectorId: string, segment: number): Promise<void> {
  const { world, id: messageId, segments } = story;
  const providerMessageIds = [idAt(story, connectorId, segment)];
  const answer = { connectorId, messageId, part: segment, parts: segments.length, providerMessageIds };
  await world.store.receipts.recordLateAnswer(answer, world.clock.now);
}

function idAt({ id }: Story, connectorId: string, segment: number): string {
  return `${connectorId} ${segment} ${id}`;
}
