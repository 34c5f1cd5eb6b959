import { heading, whole } from "../report.ts";
import { between } from "./database.ts";
import { accept, drain, openGround } from "./store-ground.ts";

export interface ClaimSettle {
  readonly jobs: number;
  readonly perClaim: number;
  /** At one time, as from so many connectors. */
  readonly claims: number;
}

export async function claimSettle({ jobs, perClaim, claims }: ClaimSettle): Promise<void> {
  console.log(
    heading(`PostgreSQL: claiming and settling ${whole(jobs)} jobs, ${claims} × ${perClaim} at a time`),
  );
  const ground = await openGround();
  await accept(ground, jobs);
  const before = await ground.counters();
  await Promise.all(Array.from({ length: claims }, () => drain(ground, perClaim)));
  const spent = between(before, await ground.counters(), jobs);
  console.log(`${whole(spent.perSecond)} jobs/s over ${spent.seconds.toFixed(1)} s`);
  console.log(`  ${whole(spent.ownUs)} µs of processor time for each, on our side`);
  console.log(`  ${whole(spent.serverUs)} µs of processor time for each, on the server's side`);
  console.log(`  ${whole(spent.wal)} octets of WAL for each`);
}
