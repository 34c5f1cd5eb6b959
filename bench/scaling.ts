/**
 * What many messages a day need, from what 1,000 of them cost: the tables of `docs/scaling.md`. `--write` puts them
 * between their marks there.
 *
 *   bun bench/scaling.ts [--write]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Of 1,000 messages, as `bench/postgres.ts cost` says it: replaced after each run. */
const COSTS = {
  "without webhooks": {
    serviceSeconds: 0.425,
    postgresSeconds: 0.393,
    walOctets: 6_336_312,
    diskOctets: 3_654_861,
  },
  "two webhooks each": {
    serviceSeconds: 0.899,
    postgresSeconds: 0.885,
    walOctets: 12_135_785,
    diskOctets: 5_078_357,
  },
} as const;

/** What is assumed, and not measured. */
const INPUTS = {
  /** The busiest second, as a multiple of the day's mean. */
  peak: 5,
  /** How much of a core is to be used in that second. */
  utilization: 0.6,
  retentionDays: 7,
  /** Of a primary: cores that PostgreSQL may use, and what its disk and its standby's network take. */
  primaryCores: 32,
  primaryWalMb: 400,
  /** One message over the network: request, answer, submit_sm, receipt and their answers, TCP and TLS; and a webhook. */
  messageOctets: 2_500,
  webhookOctets: 2_000,
} as const;

const DAY_SECONDS = 86_400;
const VOLUMES = { "10 million": 10_000_000, "1 billion": 1_000_000_000 } as const;

type Cost = (typeof COSTS)[keyof typeof COSTS];

const COST_ROWS: readonly (readonly [string, (cost: Cost) => string])[] = [
  ["processor time of the service, s", (cost) => cost.serviceSeconds.toFixed(2)],
  ["processor time of PostgreSQL, s", (cost) => cost.postgresSeconds.toFixed(2)],
  ["WAL, MB", (cost) => (cost.walOctets / 1e6).toFixed(1)],
  ["disk with indexes, MB", (cost) => (cost.diskOctets / 1e6).toFixed(1)],
];

interface Case {
  readonly cost: Cost;
  readonly webhooks: number;
  readonly perDay: number;
}

const NEED_ROWS: readonly (readonly [string, (one: Case) => string])[] = [
  ["messages a second, mean", ({ perDay }) => amount(perDay / DAY_SECONDS)],
  ["… in the busiest second", (one) => amount(peakOf(one))],
  ["cores of the service", (one) => amount(coresOf(one, one.cost.serviceSeconds))],
  ["cores of PostgreSQL", (one) => amount(coresOf(one, one.cost.postgresSeconds))],
  ["WAL in the busiest second, MB", (one) => amount(walMbOf(one))],
  ["WAL a day, GB", ({ cost, perDay }) => amount((perDay / 1e3) * (cost.walOctets / 1e9))],
  [
    `disk at ${INPUTS.retentionDays + 1} days of tables, GB`,
    ({ cost, perDay }) => amount((INPUTS.retentionDays + 1) * (perDay / 1e3) * (cost.diskOctets / 1e9)),
  ],
  ["network of clients and providers, Mbit in the busiest second", (one) => amount(networkMbitOf(one))],
  ["cells", (one) => amount(cellsOf(one))],
];

function peakOf({ perDay }: Case): number {
  return (perDay / DAY_SECONDS) * INPUTS.peak;
}

function coresOf(one: Case, seconds: number): number {
  return (peakOf(one) / 1e3) * (seconds / INPUTS.utilization);
}

function walMbOf(one: Case): number {
  return (peakOf(one) / 1e3) * (one.cost.walOctets / 1e6);
}

function networkMbitOf(one: Case): number {
  return (peakOf(one) * 8 * (INPUTS.messageOctets + one.webhooks * INPUTS.webhookOctets)) / 1e6;
}

/** As many primaries as the narrower of processor and WAL asks for. */
function cellsOf(one: Case): number {
  const byCores = coresOf(one, one.cost.postgresSeconds) / INPUTS.primaryCores;
  return Math.ceil(Math.max(byCores, walMbOf(one) / INPUTS.primaryWalMb));
}

function amount(value: number): string {
  return value >= 10 ? Math.ceil(value).toLocaleString("en-US") : String(Math.ceil(value * 10) / 10);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return lines.join("\n");
}

const names = Object.keys(COSTS) as (keyof typeof COSTS)[];
const cases = Object.entries(VOLUMES).flatMap(([volume, perDay]) =>
  names.map((name, webhooks) => ({
    head: `${volume}, ${name}`,
    one: { cost: COSTS[name], webhooks: 2 * webhooks, perDay },
  })),
);
const tables: Readonly<Record<string, string>> = {
  cost: table(
    ["1,000 messages", ...names],
    COST_ROWS.map(([what, of]) => [what, ...names.map((name) => of(COSTS[name]))]),
  ),
  inputs: table(
    ["Assumed", ""],
    [
      ["busiest second over the day's mean", `${INPUTS.peak} ×`],
      ["of a core, in that second", `${INPUTS.utilization * 100} %`],
      ["retention", `${INPUTS.retentionDays} days, and the day that is going`],
      ["one primary", `${INPUTS.primaryCores} cores, ${INPUTS.primaryWalMb} MB of WAL a second`],
      ["network of a message, of a webhook", `${INPUTS.messageOctets}, ${INPUTS.webhookOctets} octets`],
    ],
  ),
  needs: table(
    ["A day", ...cases.map(({ head }) => head)],
    NEED_ROWS.map(([what, of]) => [what, ...cases.map(({ one }) => of(one))]),
  ),
};

const page = join(import.meta.dir, "../docs/scaling.md");
if (process.argv[2] === "--write") {
  const text = Object.entries(tables).reduce(
    (before, [name, lines]) =>
      before.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`),
        (_, start, end) => `${start}${lines}\n${end}`,
      ),
    readFileSync(page, "utf8"),
  );
  writeFileSync(page, text);
} else console.log(Object.values(tables).join("\n\n"));
