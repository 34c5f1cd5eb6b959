import { expect, test } from "bun:test";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { sessionOptions } from "../connections/session-settings.ts";
import { CONNECTIONS } from "../database/driver.ts";
import { race } from "../database/race.contract.ts";
import { behindProxy, openOther } from "../postgres-world.contract.ts";

const beatOf = (process: string) => ({ process, isSharing: true, keep: [], take: [], dead: [], now: 1 });

test("a process whose connections are all busy still shows that it lives", () =>
  race(async ({ other, whileHeld }) => {
    const writes: Promise<unknown>[] = [];
    await whileHeld("settings", async (isWaiting) => {
      for (let n = 0; n <= CONNECTIONS; n++)
        writes.push(other.records.setSettings(undefined, { [`s${n}`]: "1" }));
      await isWaiting(CONNECTIONS);
      expect((await other.leases.heartbeat(beatOf("busy"))).processes).toMatchObject([{ process: "busy" }]);
    });
    await Promise.all(writes);
  }));

test("a heartbeat takes two round trips whatever it has to say, since all others wait for it meanwhile", () =>
  behindProxy(async ({ near, far, proxy }) => {
    const { processes } = await near.leases.heartbeat(beatOf("dying"));
    const slots = [0, 1].map((slot) => ({ name: "c", slot }));
    await far.leases.heartbeat({ ...beatOf("own"), take: slots.slice(0, 1) });
    const before = proxy.roundTrips();
    const keep = slots.map((slot) => ({ ...slot, isUp: true }));
    const beat = await far.leases.heartbeat({ ...beatOf("own"), dead: processes, keep, take: slots });
    expect(proxy.roundTrips() - before).toBe(2);
    expect(beat).toEqual({
      isNew: false,
      processes: [{ process: "own", heartbeat: 3, isSharing: true }],
      leases: [
        { name: "c", slot: 0, process: "own", isUp: true },
        { name: "c", slot: 1, process: "own", isUp: false },
      ],
    });
  }));

/** How long leases are valid, less the second from one heartbeat to the next (ADR 20). */
const LONGEST_WAIT_MS = 6_000;

/** What the role has behind a pooler, which takes no settings of a session. */
const OF_ROLE = sessionOptions(
  "-c statement_timeout=10s -c lock_timeout=10s -c idle_in_transaction_session_timeout=10s",
);

/** On a busy machine one wait may seem longer than it is, but hardly each. */
const TRIES = 3;

for (const [pooled, where] of [
  ["", "connected directly"],
  [`?prepare=false&options=${encodeURIComponent(OF_ROLE)}`, "behind a pooler"],
] as const) {
  test(`a process that falls silent in its heartbeat, ${where}, keeps others from theirs for less time than their leases last`, async () => {
    let waitMs = Number.POSITIVE_INFINITY;
    for (let tried = 0; waitMs >= LONGEST_WAIT_MS && tried < TRIES; tried++)
      waitMs = await waitBehindSilent(pooled);
    expect(waitMs).toBeLessThan(LONGEST_WAIT_MS);
  });
}

/** How long another's heartbeat waits for one that has fallen silent. */
async function waitBehindSilent(pooled: string): Promise<number> {
  let waitMs = 0;
  await race(async ({ url, other, whileHeld }) => {
    const proxy = await openPostgresProxy(url);
    const far = await openOther(proxy.url + pooled);
    let silent: Promise<unknown> = Promise.resolve();
    await whileHeld("lease_processes", async (isWaiting) => {
      silent = far.leases.heartbeat(beatOf("silent")).catch((error: unknown) => error);
      await isWaiting(1);
      proxy.silence();
    });
    const sinceMs = performance.now();
    const { processes } = await other.leases.heartbeat(beatOf("lively"));
    waitMs = performance.now() - sinceMs;
    expect(processes).toMatchObject([{ process: "lively" }]);
    await proxy.close();
    expect(await silent).toBeInstanceOf(Error);
    await far.close();
  });
  return waitMs;
}
