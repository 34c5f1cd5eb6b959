import { heading, ratio, whole } from "../report.ts";
import { median } from "../wrk.ts";
import { between, type Counters } from "./database.ts";
import { loadHistory, prepareHistory } from "./history-rows.ts";
import { accept, claim, type Ground, openGround, receive, settlementOf } from "./store-ground.ts";

export interface History {
  /** Messages that are there before. */
  readonly history: number;
  /** Messages of each round. */
  readonly messages: number;
  readonly rounds: number;
  /** Of a server whose databases stay: a later run finds the messages there. Absent: all goes with the process. */
  readonly server?: string;
}

const STEPS = ["accept", "claim and settle", "receipt"] as const;
const PER_CLAIM = 500;
const PER_EVENTS = 5_000;

type Spent = ReturnType<typeof between>;

/** Both databases are on one server, have the tables of the same days, and take turns. */
export async function history({ history, messages, rounds, server }: History): Promise<void> {
  console.log(
    heading(`PostgreSQL: ${whole(messages)} messages on ${whole(history)} of seven days, and on none`),
  );
  const empty = await openGround(server === undefined ? undefined : { server, name: "history_none" });
  const full = await openGround(server === undefined ? undefined : { server, name: "history_full" });
  await prepareHistory(empty);
  const startedMs = performance.now();
  await loadHistory(full, history);
  console.log(`loaded in ${whole((performance.now() - startedMs) / 1_000)} s, ${await sizeOf(full)}`);
  await live(empty, 1_000);
  await live(full, 1_000);
  const pairs: { empty: readonly Spent[]; full: readonly Spent[] }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ empty: await live(empty, messages), full: await live(full, messages) });
  STEPS.forEach((step, index) => {
    const of = (which: "empty" | "full", value: (spent: Spent) => number) =>
      median(pairs.map((pair) => value(pair[which][index] as Spent)));
    say(`${step}, wall clock`, "µs", (value) => of(value, ({ seconds }) => (seconds / messages) * 1e6));
    say(`${step}, processor time of the store`, "µs", (value) => of(value, ({ ownUs }) => ownUs));
    say(`${step}, processor time of PostgreSQL`, "µs", (value) => of(value, ({ serverUs }) => serverUs));
    say(`${step}, WAL`, "octets", (value) => of(value, ({ wal }) => wal));
  });
}

function say(what: string, unit: string, of: (which: "empty" | "full") => number): void {
  const [none, full] = [of("empty"), of("full")];
  console.log(
    `${what}, a message: ${whole(none)} ${unit} empty, ${whole(full)} with history, ratio ${ratio(full / none)}`,
  );
}

async function sizeOf({ driver }: Ground): Promise<string> {
  const [row] = await driver.query<{ size: number }>("SELECT pg_database_size(current_database()) AS size");
  return `${whole((row?.size ?? 0) / 2 ** 20)} MiB`;
}

/** The whole way of so many messages, step by step; each begins right after a checkpoint. */
async function live(ground: Ground, messages: number): Promise<readonly Spent[]> {
  const ids: string[] = [];
  const settleAll = async () => {
    for (;;) {
      const jobs = await claim(ground.store, PER_CLAIM);
      if (jobs.length === 0) return;
      await ground.store.queue.settle(jobs.map(settlementOf));
      ids.push(...jobs.map(({ messageId }) => messageId));
    }
  };
  const receiveAll = async () => {
    for (let at = 0; at < ids.length; at += PER_CLAIM) await receive(ground, ids.slice(at, at + PER_CLAIM));
    while ((await ground.store.feed.numberEvents(PER_EVENTS)) > 0);
  };
  const spent: Spent[] = [];
  for (const step of [() => accept(ground, messages), settleAll, receiveAll]) {
    await ground.driver.query("CHECKPOINT");
    const before: Counters = await ground.counters();
    await step();
    spent.push(between(before, await ground.counters(), messages));
  }
  return spent;
}
