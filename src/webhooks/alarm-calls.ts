/** Tells the operator's own webhook of alarms: signed like an account's, tried a few times, and not kept. */
import type { AlarmChange } from "../core/alarms/alarm.ts";
import { type Clock, type Random, sleep } from "../core/clock.ts";
import { readSetting } from "../core/records/settings.ts";
import { toIso } from "../core/timestamp.ts";
import type { Records } from "../store/store.ts";
import { createDeliverWebhook, type DeliverWebhook } from "./deliver.ts";
import { createConfiguredHttp } from "./http/configured-http.ts";
import type { Resolver } from "./http/find-addresses.ts";

/** Calls under way, waits between tries included; beyond it the log has to do. */
const MAX_UNDER_WAY = 100;

/** Tries of one call: later than the third wait nobody is helped. */
const MAX_TRIES = 4;

export interface AlarmCallsDeps {
  readonly records: Pick<Records, "settings">;
  readonly clock: Clock;
  readonly random: Random;
  /** See `ConfiguredHttpDeps`. */
  readonly openResolver: (servers: string | undefined) => Resolver;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
}

export interface AlarmCalls {
  /** Never waits or throws: what becomes of the call is told to the log. */
  tell(change: AlarmChange): void;
  /** Gives up what is under way. */
  stop(): Promise<void>;
}

export function createAlarmCalls(deps: AlarmCallsDeps): AlarmCalls {
  const { log } = deps;
  const onError = (error: unknown) => log.warn({ err: error }, "the alarm webhook cannot be called as set");
  const http = createConfiguredHttp({ ...deps, onError });
  const deliver = createDeliverWebhook({ ...deps, http });
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  return {
    tell(change) {
      if (underWay.size >= MAX_UNDER_WAY) return log.warn(fieldsOf(change), "an alarm was not called out");
      const call = callOut(deps, { change, deliver, signal: stopping.signal }).catch(onError);
      underWay.add(call);
      void call.finally(() => underWay.delete(call));
    },
    async stop() {
      stopping.abort();
      await Promise.all(underWay);
      http.close();
    },
  };
}

interface Call {
  readonly change: AlarmChange;
  readonly deliver: DeliverWebhook;
  readonly signal: AbortSignal;
}

async function callOut(deps: AlarmCallsDeps, { change, deliver, signal }: Call): Promise<void> {
  const { clock, records, log } = deps;
  for (let failures = 0; failures < MAX_TRIES && !signal.aborted; failures++) {
    // Read anew at every try: whoever mends the URL need not wait for the next alarm.
    const settings = await records.settings(undefined);
    const url = readSetting(settings, "alarm_webhook_url");
    const secret = readSetting(settings, "alarm_webhook_secret");
    if (url === undefined || secret === undefined) return;
    const { verdict, attempt } = await deliver(
      { ...toCall(change), url, secrets: [secret], failures },
      signal,
    );
    if (verdict.kind === "delivered") return;
    const { status, error } = attempt;
    log.warn({ ...fieldsOf(change), status, error: error?.code }, "the alarm webhook did not take a call");
    if (verdict.kind !== "again") return;
    await sleep(clock, Math.max(0, verdict.at - clock.now()), signal);
  }
}

function toCall({ kind, alarm, at }: AlarmChange): { readonly id: string; readonly body: string } {
  const { name, subject, reason, since, raisedAt } = alarm;
  const data = { name, subject, reason, since: toIso(since), raised_at: toIso(raisedAt) };
  return {
    id: `alarm_${name}_${subject}_${raisedAt}_${kind}`,
    body: JSON.stringify({
      type: `alarm.${kind}`,
      timestamp: toIso(at),
      data: kind === "cleared" ? { ...data, cleared_at: toIso(at) } : data,
    }),
  };
}

function fieldsOf({ kind, alarm: { name, subject } }: AlarmChange) {
  return { alarm_name: name, subject, kind };
}
