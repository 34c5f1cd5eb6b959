/** The parts of a chaos run: the processes, the SMSCs, two accounts, and the receivers of their webhooks. */
import { admin } from "../admin.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import {
  BEHAVIOURS,
  type FakeWebhookReceiver,
  startFakeWebhookReceiver,
} from "../fakes/fake-webhook-receiver.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import type { PostriderProcess } from "../postrider-process.ts";
import { allowHooks } from "../webhook-rig.ts";
import { createDice } from "./dice.ts";
import { type Fleet, type Store, startFleet } from "./fleet.ts";
import { createHolding } from "./holding.ts";
import type { Account, Asked, HandOver, Model, Request } from "./model.ts";
import { type Plan, planOf, withStandstill } from "./plan.ts";
import { type ChaosSmsc, startChaosSmsc } from "./smsc.ts";

/** What every chaos run has, whatever it sends. */
export interface AnyWorld<Asking extends Request = Asked> {
  readonly seed: string;
  readonly fleet: Fleet;
  readonly accounts: readonly Asking["account"][];
  readonly receivers: ReadonlyMap<Asking["account"], FakeWebhookReceiver>;
  readonly model: Model<Asking>;
  /** From now on providers and receivers never fail. */
  beKind(): void;
  close(): Promise<void>;
}

/** One that sends SMS. */
export interface SmsWorld extends AnyWorld {
  /** All that the providers got so far. */
  handOvers(): readonly HandOver[];
}

export interface World extends SmsWorld {
  readonly plan: Plan;
  readonly smscs: readonly ChaosSmsc[];
  /** The connector to each SMSC. */
  readonly connectors: readonly string[];
}

export const RESPONSE_TIMEOUT_MS = 1_000;

/** Short, since a held message is held until its window ends. */
export const WINDOW_SECONDS = 600;

/** The settings of each account to begin with, but for their window. */
const SETTINGS = [{}, { on_unconfirmed: "hold", batch_duplicates: "once" }] as const;

export interface WorldOptions {
  readonly seed: string;
  readonly steps: number;
  /** In which a message is sent unless its request says otherwise. */
  readonly windowSeconds?: number;
  /** How many days before now the clocks begin: PostgreSQL's own does not leap, and nothing is deleted that is not old by it too. */
  readonly daysAgo?: number;
  /** A process stands still until the other has taken its messages over. PostgreSQL only. */
  readonly hasStandstill?: boolean;
}

export async function openWorld(
  store: Store,
  { seed, steps, windowSeconds = WINDOW_SECONDS, daysAgo = 0, hasStandstill = false }: WorldOptions,
): Promise<World> {
  const planned = planOf(seed, steps);
  const plan = hasStandstill && store === "postgres" ? withStandstill(seed, planned) : planned;
  const fleet = await startFleet(store, untilMidnight() - plan.beforeMidnightMs - daysAgo * DAY_MS);
  const dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  const service = fleet.some(() => 0)!;
  const smscs = await startSmscs({ seed, fleet, count: plan.smscs });
  await allowHooks(service, dns.address);
  const connectors: string[] = [];
  for (const smsc of smscs) connectors.push(await connectChaosSmsc(service, smsc));
  const receivers = await openAccounts(service, { connectors, windowSeconds, seed, now: fleet.now });
  const accounts = [...receivers.keys()];
  return {
    seed,
    plan,
    fleet,
    smscs,
    connectors,
    accounts,
    receivers,
    model: newModel(accounts),
    handOvers: () => smscs.flatMap(({ submits }) => submits),
    beKind() {
      for (const smsc of smscs) smsc.beKind();
      for (const receiver of receivers.values()) receiver.behave(BEHAVIOURS.ok);
    },
    close: () => closeWorld({ fleet, peers: [...smscs, ...receivers.values()], dns }),
  };
}

export function newModel(accounts: readonly Account[]): Model {
  return {
    channel: "sms",
    asked: [],
    canceled: [],
    problems: [],
    toldFinal: new Map(),
    feeds: new Map(accounts.map((account) => [account, []])),
  };
}

const DAY_MS = 86_400_000;

export function untilMidnight(): number {
  return DAY_MS - (Date.now() % DAY_MS);
}

/** Of each connector: one for each process on PostgreSQL. */
export const BINDS = 2;

const CONNECTOR = {
  response_timeout_ms: RESPONSE_TIMEOUT_MS,
  user_message_reference: true,
  binds: BINDS,
  window: 20,
};

export function connectChaosSmsc(service: PostriderProcess, smsc: ChaosSmsc): Promise<string> {
  return connectSmsc(service, smsc, CONNECTOR);
}

export function startSmscs({
  seed,
  fleet,
  count,
}: {
  seed: string;
  fleet: Fleet;
  count: number;
}): Promise<ChaosSmsc[]> {
  const names = ["first", "second"].slice(0, count);
  const responseTimeoutMs = RESPONSE_TIMEOUT_MS;
  return Promise.all(names.map((name) => startChaosSmsc({ name, seed, now: fleet.now, responseTimeoutMs })));
}

interface Opening {
  readonly connectors: readonly string[];
  readonly windowSeconds: number;
  readonly seed: string;
  readonly now: () => number;
}

/** The accounts, each with the receiver of its webhooks. */
export async function openAccounts(
  service: PostriderProcess,
  { windowSeconds, seed, ...opening }: Opening,
): Promise<ReadonlyMap<Account, FakeWebhookReceiver>> {
  const receivers = new Map<Account, FakeWebhookReceiver>();
  for (const ways of SETTINGS) {
    const settings = { ...ways, sms_default_window_seconds: String(windowSeconds) };
    const { account, receiver } = await openAccount(service, { ...opening, settings });
    behave(receiver, `${seed}/${account.name}`);
    receivers.set(account, receiver);
  }
  return receivers;
}

type OpeningOne = Pick<Opening, "connectors" | "now"> & {
  readonly settings: Readonly<Record<string, string>>;
};

async function openAccount(service: PostriderProcess, { connectors, settings, now }: OpeningOne) {
  const live = await openLiveSms(service, { connectors, settings, body: "{{1}}" });
  const receiver = await startFakeWebhookReceiver({ secret: await secretOf(service, live.accountId), now });
  const account: Account = {
    accountId: live.accountId,
    apiKey: live.apiKey,
    templateId: live.templateId,
    name: settings.on_unconfirmed ?? "resend",
    holding: createHolding(settings.on_unconfirmed === "hold"),
    sendsOnce: settings.batch_duplicates === "once",
    callbackUrl: receiver.url(),
  };
  return { account, receiver };
}

export async function secretOf(service: PostriderProcess, accountId: string): Promise<string> {
  const path = `/webhooks/secret?account_id=${accountId}`;
  const { secrets } = await admin<{ secrets: { secret: string }[] }>(service, path);
  return secrets[0]!.secret;
}

export function behave(receiver: FakeWebhookReceiver, seed: string): void {
  receiver.behave(({ headers }, index) => {
    const dice = createDice(`${seed}/${headers["webhook-id"]}/${index}`);
    return BEHAVIOURS[dice.pick({ ok: 82, slow: 8, error: 6, close: 4 })];
  });
}

interface Closing {
  readonly fleet: Fleet;
  /** Providers and receivers. */
  readonly peers: readonly { close(): Promise<void> }[];
  readonly dns: FakeDns;
}

export async function closeWorld({ fleet, peers, dns }: Closing): Promise<void> {
  await fleet.close();
  await Promise.all(peers.map((peer) => peer.close()));
  dns.close();
}
