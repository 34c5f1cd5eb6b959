/** The process is killed at any moment, under load, again and again. Nothing that was answered 202 may be lost or doubled. */
import { afterAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { onBothStores } from "../both-stores.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  type StartOptions,
  startPostrider,
} from "../postrider-process.ts";
import { storedRows } from "../stored-rows.ts";
import { until } from "../until.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const CLIENTS = 16;
const BATCH = IS_LONG ? 50 : 10;

/** How many more requests than a few may be answered before a kill. */
const MOST_ANSWERED = IS_LONG ? 200 : 80;

/** Messages looked up at a time: they end in the order in which they were accepted, more or less. */
const AT_ONCE = 50;

const FINAL = new Set(["delivered", "undelivered", "failed", "expired"]);

/** The ways of writing take turns on the same database. */
const WAYS = { sqlite: [["--listeners", "2"], [], ["--store-thread"]], postgres: [[]] };
const KILLS = { sqlite: IS_LONG ? 200 : 20, postgres: IS_LONG ? 200 : 3 };

/**
 * On PostgreSQL another process might be at work on what the killed one had: the last one comes when its leases have
 * ended, those before it while they run.
 */
const LATER: StartOptions = {
  preload: fileURLToPath(new URL("../fakes/later.ts", import.meta.url)),
  env: { AHEAD_MS: "60000" },
};

onBothStores(
  (store) => {
    const kills = KILLS[store];
    const folder = makeDataFolder(store);
    afterAll(folder.remove);

    test(
      `after ${kills} kill -9 under load every message that was answered 202 exists once and reaches a final state`,
      async () => {
        const accepted = new Map<string, readonly string[]>();
        let service = await startPostrider({ dataFolder: folder.path });
        const writing = (kill: number) => WAYS[store][kill % WAYS[store].length] ?? [];
        for (let kill = 0; kill < kills; kill++) {
          const load = startLoad(service, accepted);
          await load.accepted(20 + Math.floor(Math.random() * MOST_ANSWERED));
          service.kill("SIGKILL");
          await service.exited;
          await load.stop();
          const when = store === "postgres" && kill === kills - 1 ? LATER : {};
          service = await startPostrider({ dataFolder: folder.path, args: writing(kill), ...when });
          await load.finish(service);
        }
        const ids = [...accepted.values()].flat();
        await allFinal(service, ids);
        service.kill("SIGTERM");
        expect(await service.exited).toBe(0);

        const stored = await storedRows<{ id: string; status: string }>(
          folder.path,
          "SELECT id, status FROM messages",
        );
        const jobs = await storedRows(folder.path, "SELECT id FROM jobs");
        expect(new Set(ids).size).toBe(ids.length);
        expect(stored.length).toBe(ids.length);
        expect(stored.every((row) => row.status === "delivered")).toBe(true);
        expect(jobs).toEqual([]);
      },
      IS_LONG ? 3_600_000 : 240_000,
    );
  },
  { atOnce: true },
);

/** Clients that post singles and batches, each with a key of its own; what a kill cut off is repeated with the same key. */
function startLoad(service: PostriderProcess, accepted: Map<string, readonly string[]>) {
  let isStopping = false;
  let count = 0;
  const unanswered = new Map<string, string>();
  const waiting: { at: number; resolve: () => void }[] = [];
  let failure: unknown;

  const post = async (to: PostriderProcess, key: string, body: string) => {
    const response = await fetch(`${to.url}/v1/sms/messages`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${to.sandbox.api_key}`,
        "Content-Type": "application/json",
        "Idempotency-Key": key,
      },
      body,
    });
    if (response.status !== 202) throw new Error(`answered ${response.status}: ${await response.text()}`);
    const answer = (await response.json()) as { message_id?: string; messages?: { message_id: string }[] };
    accepted.set(key, answer.messages?.map((each) => each.message_id) ?? [answer.message_id as string]);
    unanswered.delete(key);
    count += 1;
    for (const each of waiting) if (count >= each.at) each.resolve();
  };

  const client = async (index: number) => {
    for (let n = 0; !isStopping; n++) {
      const key = crypto.randomUUID();
      const body = n % 10 === 9 ? batch() : single(`+91${9_000_000_100 + index * 1_000 + (n % 1_000)}`);
      unanswered.set(key, body);
      await post(service, key, body).catch((error) => {
        isStopping = true;
        failure ??= error;
      });
    }
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));

  return {
    accepted: (at: number) =>
      Promise.race([
        new Promise<void>((resolve) => waiting.push({ at, resolve })),
        ended.then(() => Promise.reject(failure)),
      ]),
    async stop() {
      isStopping = true;
      await ended;
    },
    async finish(restarted: PostriderProcess) {
      await Promise.all([...unanswered].map(([key, body]) => post(restarted, key, body)));
    },
  };
}

const single = (to: string) =>
  JSON.stringify({ to, dlt_template_id: "1107160000000000001", variables: { "1": "123456" } });

const batch = () =>
  JSON.stringify({
    to: Array.from({ length: BATCH }, (_, index) => `+91${8_000_000_000 + index}`),
    dlt_template_id: "1107160000000000001",
  });

async function allFinal(service: PostriderProcess, ids: readonly string[]): Promise<void> {
  let open = [...ids];
  const look = async () => {
    let still: readonly string[] = [];
    while (open.length > 0 && still.length === 0) {
      const asked = open.slice(0, AT_ONCE);
      const statuses = await Promise.all(asked.map((id) => statusOf(service, id)));
      still = asked.filter((_, index) => !FINAL.has(statuses[index] ?? ""));
      open = [...still, ...open.slice(AT_ONCE)];
    }
    return open;
  };
  await until(look, ({ length }) => length === 0, { withinMs: 120_000 });
}

async function statusOf(service: PostriderProcess, id: string): Promise<string> {
  const response = await fetch(`${service.url}/v1/sms/messages/${id}`, {
    headers: { Authorization: `Bearer ${service.sandbox.api_key}` },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { status: string }).status;
}
