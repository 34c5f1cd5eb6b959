import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { createMetrics, type MetricsSources } from "./metrics.ts";

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const QUEUES = [{ queue: "route", ready: 2, oldestReadySince: NOW - 4_000 }];
const OVERDUE = { connectorId: "smsc", parts: 3 };

const ALARM = {
  name: "connector_down",
  subject: "other",
  subjectName: 'Ace "1"',
  since: NOW,
  raisedAt: NOW,
  reason: "down",
} as const;

const ALARM_OF_QUEUE = {
  name: "queue_too_old",
  subject: "route",
  since: NOW,
  raisedAt: NOW,
  reason: "",
} as const;

/** What a database with one job, one overdue receipt and some webhooks answers. */
function makeSources(changes: Partial<MetricsSources> = {}) {
  const clock = createHeldClock(NOW);
  const sources: MetricsSources = {
    queue: { backlog: async () => QUEUES },
    receipts: { countParked: async () => 5, countOverdue: async () => [OVERDUE] },
    inbound: { countUnassigned: async () => 6 },
    outbox: { backlog: async () => ({ ready: 7, waiting: 8 }) },
    connectors: () => [{ id: "smsc", status: { state: "up", since: NOW } }],
    domains: () => ({ pending: 0, verified: 1, failing: 0, lapsed: 0 }),
    webhooks: { paused: () => [], underWay: () => 9 },
    alarms: () => [ALARM, ALARM_OF_QUEUE],
    clockAheadMs: () => undefined,
    certificate: () => undefined,
    clock,
    ...changes,
  };
  return { sources, clock };
}

const STORED = [
  'postrider_queue_ready{queue="route"} 2',
  'postrider_queue_oldest_ready_seconds{queue="route"} 4',
  "postrider_receipts_parked 5",
  'postrider_receipts_overdue{connector="smsc"} 3',
  "postrider_inbound_unassigned 6",
  "postrider_webhooks_ready 7",
  "postrider_webhooks_waiting 8",
];
const OWN = [
  'postrider_connector_up{connector="smsc"} 1',
  'postrider_domains{state="verified"} 1',
  "postrider_webhooks_under_way 9",
  'postrider_alarm{name="connector_down",subject="other",subject_name="Ace \\"1\\""} 1',
  'postrider_alarm{name="queue_too_old",subject="route"} 1',
  'postrider_http_requests_total{operation="sendSms",status="503"} 1',
];

function makeMetrics() {
  const metrics = createMetrics(createHeldClock(NOW), ["api"]);
  metrics.request({ operation: "sendSms", status: 503, ms: 1 });
  return metrics;
}

function seriesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/** A scrape without an answer of the database: what the process itself knows, and no number that it does not know. */
function expectOwnAlone(text: string): void {
  const series = seriesOf(text);
  expect(series).toEqual(expect.arrayContaining(["postrider_database_up 0", ...OWN]));
  const names = STORED.map((line) => /^\w+/.exec(line)?.[0]);
  expect(series.filter((line) => names.includes(/^\w+/.exec(line)?.[0]))).toEqual([]);
}

test("a scrape during which another one begins has every series", async () => {
  const metrics = makeMetrics();
  const [parked, queues] = [Promise.withResolvers<number>(), Promise.withResolvers<typeof QUEUES>()];
  const receipts = { countParked: () => parked.promise, countOverdue: async () => [OVERDUE] };
  const { sources, clock } = makeSources();
  const first = metrics.text({ ...sources, receipts });
  await clock.advance(0);
  const second = metrics.text({ ...sources, queue: { backlog: () => queues.promise } });
  await clock.advance(0);
  parked.resolve(5);
  expect(seriesOf(await first)).toEqual(
    expect.arrayContaining(["postrider_database_up 1", ...STORED, ...OWN]),
  );
  queues.resolve(QUEUES);
  expect(seriesOf(await second)).toEqual(expect.arrayContaining([...STORED, ...OWN]));
});

test("while the database is away a scrape shows what the process itself knows", async () => {
  const metrics = makeMetrics();
  await metrics.text(makeSources().sources);
  const away = { backlog: () => Promise.reject(new StoreUnavailable("away")) };
  expectOwnAlone(await metrics.text(makeSources({ queue: away }).sources));
  expect(seriesOf(await metrics.text(makeSources().sources))).toEqual(expect.arrayContaining(STORED));
});

test("a database that says nothing is not waited for longer than a scraper waits", async () => {
  const { sources, clock } = makeSources({
    outbox: { backlog: () => Promise.withResolvers<never>().promise },
  });
  const text = makeMetrics().text(sources);
  await clock.advance(9_000);
  expectOwnAlone(await text);
});

test("a fault in reading is not taken for a database that is away", async () => {
  const broken = { backlog: () => Promise.reject(new TypeError("a fault")) };
  expect(makeMetrics().text(makeSources({ queue: broken }).sources)).rejects.toThrow("a fault");
});

test("interruptions are counted from 0, so that the first ones are an increase", async () => {
  const metrics = makeMetrics();
  const counts = async () =>
    seriesOf(await metrics.text(makeSources().sources)).filter((line) => line.includes("interrupted"));
  expect(await counts()).toEqual([
    'postrider_interrupted_total{channel="sms"} 0',
    'postrider_interrupted_total{channel="email"} 0',
  ]);
  metrics.observe.unconfirmed("email");
  expect(await counts()).toContain('postrider_interrupted_total{channel="email"} 1');
});

test("each metric is of the type that its name promises: what ends in _total is a counter, and no other is", async () => {
  const text = await makeMetrics().text(makeSources().sources);
  const types = [...text.matchAll(/^# TYPE (?<name>\w+) (?<type>\w+)$/gm)].map(({ groups = {} }) => groups);
  expect(types.length).toBeGreaterThan(30);
  const wrong = types.filter(({ name = "", type }) => name.endsWith("_total") !== (type === "counter"));
  expect(wrong).toEqual([]);
  expect(seriesOf(text)).toContainEqual(expect.stringMatching(/^process_cpu_seconds_total \d+(\.\d+)?$/));
});
