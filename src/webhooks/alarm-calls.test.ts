/** What the operator's receiver is told of alarms that change while it does not answer. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  BEHAVIOURS,
  type Delivery,
  type FakeWebhookReceiver,
  startFakeWebhookReceiver,
} from "../../test/fakes/fake-webhook-receiver.ts";
import { createHeldClock, type HeldClock } from "../../test/fakes/held-clock.ts";
import { hooksTls } from "../../test/fakes/hooks-tls.ts";
import { until } from "../../test/until.ts";
import type { AlarmChange } from "../core/alarms/alarm.ts";
import { StoreUnavailable } from "../store/store.ts";
import { type AlarmCalls, createAlarmCalls } from "./alarm-calls.ts";

let clock: HeldClock;
let receiver: FakeWebhookReceiver;
let open: (process: string) => AlarmCalls;
let calls: AlarmCalls;
let warnings: string[];
let isStoreAway: boolean;

beforeEach(async () => {
  clock = createHeldClock();
  receiver = await startFakeWebhookReceiver({ now: clock.now });
  warnings = [];
  isStoreAway = false;
  const settings = {
    alarm_webhook_url: receiver.url(),
    alarm_webhook_secret: `whsec_${Buffer.alloc(24, 1).toString("base64")}`,
    webhook_allowed_ranges: "127.0.0.0/8",
    webhook_ca: hooksTls.ca,
  };
  open = (process) =>
    createAlarmCalls({
      records: {
        async settings() {
          if (isStoreAway) throw new StoreUnavailable("away");
          return settings;
        },
      },
      process,
      clock,
      random: () => 0.5,
      openResolver: () => ({ resolve4: async () => ["127.0.0.1"], resolve6: async () => [] }),
      log: { warn: (_: unknown, text: string) => void warnings.push(text) },
    });
  calls = open("one.example:1");
});

afterEach(async () => {
  await calls.stop();
  await receiver.close();
});

function tell(kind: AlarmChange["kind"], subject = "airtel", by = calls): void {
  const at = clock.now();
  const alarm = { name: "connector_down", subject, reason: "refused", since: at, raisedAt: at } as const;
  by.tell({ kind, alarm, at });
}

const told = () => receiver.deliveries.map(describe);

function describe({ body }: Delivery): string {
  const { type, data } = JSON.parse(body);
  return `${type} ${data.subject}`;
}

const failures = (count: number) => until(() => warnings.length === count, Boolean, { pauseMs: 0 });

test("a receiver that was away is told how the alarm ended, and not of its beginning after that", async () => {
  receiver.behave(BEHAVIOURS.error);
  tell("raised");
  tell("raised", "jio");
  await failures(2);
  await clock.advance(5_000);
  await failures(4);
  receiver.behave(BEHAVIOURS.ok);
  tell("cleared");
  await receiver.arrived(5);
  await clock.advance(60_000);
  await receiver.arrived(6);
  expect(told().slice(4)).toEqual(["alarm.cleared airtel", "alarm.raised jio"]);
});

test("what ends an alarm waits for the call under way about its beginning", async () => {
  let accept = () => {};
  const when = new Promise<void>((resolve) => {
    accept = resolve;
  });
  receiver.behave({ kind: "later", when });
  tell("raised");
  await receiver.arrived(1);
  tell("cleared");
  tell("raised", "jio");
  await receiver.arrived(2);
  expect(told()).toEqual(["alarm.raised airtel", "alarm.raised jio"]);
  accept();
  await receiver.arrived(3);
  expect(told()[2]).toBe("alarm.cleared airtel");
});

test("the same alarm of two processes is two alarms, each told by its own", async () => {
  const others = open("other.example:1");
  tell("raised");
  tell("raised", "airtel", others);
  await receiver.arrived(2);
  await others.stop();
  expect(receiver.deliveries.map(({ body }) => JSON.parse(body).data.process).toSorted()).toEqual([
    "one.example:1",
    "other.example:1",
  ]);
  const ids = receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(2);
  expect(ids.join()).not.toContain(".");
});

test("an alarm that finds the database away is told once that is back", async () => {
  isStoreAway = true;
  tell("raised");
  await failures(1);
  isStoreAway = false;
  await clock.advance(5_000);
  await receiver.arrived(1);
  expect(told()).toEqual(["alarm.raised airtel"]);
});

test("with a hundred calls under way a further alarm is only logged, and the end of one of the hundred is told", async () => {
  isStoreAway = true;
  for (let count = 0; count < 100; count++) tell("raised", `smsc ${count}`);
  await failures(100);
  tell("raised", "one too many");
  expect(warnings[100]).toBe("the alarm webhook is not called: too many calls are under way");
  tell("cleared", "smsc 0");
  isStoreAway = false;
  await clock.advance(5_000);
  await receiver.arrived(100);
  const all = Array.from({ length: 99 }, (_, at) => `alarm.raised smsc ${at + 1}`);
  expect(told().toSorted()).toEqual([...all, "alarm.cleared smsc 0"].toSorted());
});
