/** Calls the operator's own webhook when alarms change: signed like an account's webhooks, tried a few times, not stored. */
import type { AlarmChange } from "../core/alarms/alarm.ts";
import { type Clock, type Random, sleep } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { present } from "../core/present.ts";
import { readSetting } from "../core/records/settings.ts";
import { toIso } from "../core/time/timestamp.ts";
import type { WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { createInFlight } from "../core/work/in-flight.ts";
import type { Records } from "../store/store.ts";
import { type AttemptDelivery, createAttemptDelivery } from "./attempt-delivery.ts";
import { createConfiguredHttp } from "./http/configured-http.ts";
import type { Resolver } from "./http/find-addresses.ts";
import { afterFailure } from "./judge.ts";

/** The most calls under way, those that wait for their next attempt included. Beyond that, alarms are only logged. */
const MAX_UNDER_WAY = 100;

/** The most attempts of a call: after the third wait it is too late to help anybody. */
const MAX_ATTEMPTS = 4;

export interface AlarmCallsDeps {
  /** This process, for operators: each that delivers has alarms of its own. */
  readonly process: string;
  readonly records: Pick<Records, "settings">;
  readonly clock: Clock;
  readonly random: Random;
  /** See `ConfiguredHttpDeps`. */
  readonly openResolver: (servers: string | undefined) => Resolver;
  readonly log: Pick<Log, "warn">;
}

export interface AlarmCalls {
  /** Returns at once and never throws; failures are logged. The changes of one alarm go out in order, and none after a later one. */
  tell(change: AlarmChange): void;
  /** Gives up the calls under way. */
  stop(): Promise<void>;
}

export function createAlarmCalls(deps: AlarmCallsDeps): AlarmCalls {
  const { log } = deps;
  const onError = (error: unknown) => log.warn({ err: error }, "the alarm webhook's settings do not work");
  const http = createConfiguredHttp({ ...deps, onError });
  const attemptDelivery = createAttemptDelivery({ ...deps, http });
  const stopping = new AbortController();
  const calls = createInFlight();
  /** The last call about each alarm, until it has ended. */
  const latest = new Map<string, LatestCall>();

  /** A later change makes the one before it old news: it is not tried again, and the later one goes out after it. */
  const callAfter = async (change: AlarmChange, before: LatestCall | undefined, signal: AbortSignal) => {
    await before?.call;
    await callOut(deps, { change, attemptDelivery, stopping: stopping.signal, signal });
  };
  return {
    tell(change) {
      const key = keyOf(change);
      const before = latest.get(key);
      if (!before && calls.count() >= MAX_UNDER_WAY)
        return log.warn(fieldsOf(change), "the alarm webhook is not called: too many calls are under way");
      before?.outdate();
      const isOutdated = new AbortController();
      const signal = AbortSignal.any([stopping.signal, isOutdated.signal]);
      const call = calls.add(callAfter(change, before, signal));
      const own = { call, outdate: () => isOutdated.abort() };
      latest.set(key, own);
      void call.then(() => latest.get(key) === own && latest.delete(key));
    },
    async stop() {
      stopping.abort();
      await calls.whenEmpty();
      http.close();
    },
  };
}

interface LatestCall {
  /** Resolves when nothing more is sent. */
  readonly call: Promise<void>;
  /** Ends it once the attempt under way is over. */
  readonly outdate: () => void;
}

interface Call {
  readonly change: AlarmChange;
  readonly attemptDelivery: AttemptDelivery;
  /** Calls off the attempt under way. */
  readonly stopping: AbortSignal;
  /** Lets no other attempt begin. */
  readonly signal: AbortSignal;
}

async function callOut(deps: AlarmCallsDeps, call: Call): Promise<void> {
  const { clock, random, log } = deps;
  for (let failures = 0; failures < MAX_ATTEMPTS && !call.signal.aborted; failures++) {
    const verdict = await callOnce(deps, call, failures).catch((error) => {
      log.warn({ err: error, ...fieldsOf(call.change) }, "the alarm webhook could not be called");
      // The database may be away: often what has raised the alarm has taken that away too.
      return afterFailure({ failures, now: clock.now(), jitter: random() });
    });
    if (verdict?.kind !== "again") return;
    await sleep(clock, Math.max(0, verdict.at - clock.now()), call.signal);
  }
}

/** One attempt; `undefined` if the operator has not set where, or with which secret. */
async function callOnce(
  { process, records, log }: AlarmCallsDeps,
  { change, attemptDelivery, stopping }: Call,
  failures: number,
): Promise<WebhookVerdict | undefined> {
  // Read at every attempt, so that a corrected URL takes effect for this alarm too.
  const settings = await records.settings(undefined);
  const url = readSetting(settings, "alarm_webhook_url");
  const secret = readSetting(settings, "alarm_webhook_secret");
  if (url === undefined) return undefined;
  if (secret === undefined) {
    log.warn(fieldsOf(change), "the alarm webhook is not called: alarm_webhook_secret is not set");
    return undefined;
  }
  const outgoing = { ...toCall(change, process), url, secrets: [secret], failures };
  const { verdict, attempt } = await attemptDelivery(outgoing, stopping);
  const { status, error } = attempt;
  if (verdict.kind !== "delivered")
    log.warn({ ...fieldsOf(change), status, error: error?.code }, "the alarm webhook did not accept a call");
  return verdict;
}

function toCall(
  { kind, alarm, at }: AlarmChange,
  process: string,
): { readonly id: string; readonly body: string } {
  const { name, subject, subjectName, reason, since, raisedAt } = alarm;
  const of = { subject, ...present({ subject_name: subjectName }) };
  const data = { name, ...of, process, reason, since: toIso(since), raised_at: toIso(raisedAt) };
  return {
    id: `alarm_${name}_${forId(subject)}_${forId(process)}_${raisedAt}_${kind}`,
    body: JSON.stringify({
      type: `alarm.${kind}`,
      timestamp: toIso(at),
      data: kind === "cleared" ? { ...data, cleared_at: toIso(at) } : data,
    }),
  };
}

/** It goes into a header, and a data folder may have any letters in its path. See `Unsigned` for the dots. */
function forId(text: string): string {
  return encodeURIComponent(text).replaceAll(".", "%2E");
}

function keyOf({ alarm: { name, subject } }: AlarmChange): string {
  return `${name} ${subject}`;
}

function fieldsOf({ kind, alarm: { name, subject } }: AlarmChange) {
  return { alarm_name: name, subject, kind };
}
