/**
 * The store on PostgreSQL. The server is the one that tests bring, on this machine's disk, and it waits for the disk as
 * servers do.
 *
 *   bun bench/postgres.ts accept [rounds] [seconds]                 HTTP, beside a bare Bun.serve
 *   bun bench/postgres.ts batches [rounds] [seconds]                1,000 recipients a request
 *   bun bench/postgres.ts claim-settle [jobs] [jobs a claim] [claims at one time]
 *   bun bench/postgres.ts history [messages there] [messages a round] [rounds] [url of a server that keeps them]
 *   bun bench/postgres.ts bloat [jobs] [backlog] [jobs|messages] [jobs a second at the most]
 *   bun bench/postgres.ts cost [messages] [connections] [webhooks: on|off]
 */
import { acceptBatches, acceptSingles } from "./postgres/accept.ts";
import { bloat } from "./postgres/bloat.ts";
import { claimSettle } from "./postgres/claim-settle.ts";
import { cost } from "./postgres/cost.ts";
import { history } from "./postgres/history.ts";

const [what = "", ...given] = process.argv.slice(2);
const number = (index: number, byDefault: number) => Number(given[index] ?? byDefault);

const SECTIONS: Readonly<Record<string, () => Promise<void>>> = {
  accept: () => acceptSingles({ rounds: number(0, 5), seconds: number(1, 5) }),
  batches: () => acceptBatches({ rounds: number(0, 5), seconds: number(1, 5) }),
  "claim-settle": () =>
    claimSettle({ jobs: number(0, 100_000), perClaim: number(1, 100), claims: number(2, 4) }),
  history: () =>
    history({
      history: number(0, 1_000_000),
      messages: number(1, 20_000),
      rounds: number(2, 3),
      ...(given[3] !== undefined && { server: given[3] }),
    }),
  bloat: () =>
    bloat({
      jobs: number(0, 1_000_000),
      backlog: number(1, 50_000),
      by: given[2] ?? "jobs",
      pace: number(3, 0),
    }),
  cost: () =>
    cost({ messages: number(0, 20_000), connections: number(1, 32), hasWebhooks: given[2] === "on" }),
};

const run = SECTIONS[what];
if (!run) throw new Error(`"${what}" is none of ${Object.keys(SECTIONS).join(", ")}`);
await run();
process.exit(0);
