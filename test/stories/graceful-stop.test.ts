/** SIGTERM under load: what was begun is finished, what was promised is kept, and nothing is done twice. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { stopSignals } from "../../src/cli/stop-signals.ts";
import { reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import type { MessageAt } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type StartOptions, startPostrider } from "../postrider-process.ts";
import { storedRows } from "../stored-rows.ts";

const CLIENTS = 8;
const STOP_LIMIT_MS = 20_000;

/** Of a test: ten services start side by side. */
const LIMIT_MS = 180_000;

/** When what is to be tried again has come due. */
const LATER: StartOptions = {
  preload: fileURLToPath(new URL("../fakes/later.ts", import.meta.url)),
  env: { AHEAD_MS: "60000" },
};

/** The system resets the connections that it took, and that the process had not yet, when it listens no more. */
const ENDS = new Set(["202", "503", "ECONNREFUSED", "ECONNRESET"]);

type World = Awaited<ReturnType<typeof openWorld>>;

/** A service of the test's own, and an SMSC that it sends to. */
async function openWorld(store: "sqlite" | "postgres", options: StartOptions = {}) {
  const folder = makeDataFolder(store);
  const [first, smsc] = await Promise.all([
    startPostrider({ dataFolder: folder.path, ...options }),
    startFakeSmsc({ receipts: "after", delayMs: 20 }),
  ]);
  const live = await openLiveSms(first, { connectors: [await connectSmsc(first, smsc, { window: 20 })] });
  const world = {
    service: first,
    smsc,
    live,
    /** Ends the service and says how long it took. */
    async stop(): Promise<number> {
      const startedMs = performance.now();
      world.service.kill("SIGTERM");
      expect(await world.service.exited).toBe(0);
      return performance.now() - startedMs;
    },
    async restart(options: StartOptions = {}): Promise<void> {
      world.service = await startPostrider({ dataFolder: folder.path, ...options });
    },
    async [Symbol.asyncDispose]() {
      world.service.kill("SIGKILL");
      await Promise.all([world.service.exited, smsc.close()]);
      folder.remove();
    },
  };
  return world;
}

interface Load {
  /** What became of each request: its status, or why there was no answer. */
  readonly outcomes: string[];
  readonly accepted: MessageAt[];
  readonly ended: Promise<unknown>;
}

/** Clients that post, each to numbers of its own, until one is not answered 202. Each keeps one connection alive. */
function startLoad(world: World): Load {
  const outcomes: string[] = [];
  const accepted: MessageAt[] = [];
  const client = async (index: number) => {
    for (let n = 0; ; n++) {
      const outcome = await post(world, `+1${4_150_000_000 + index * 100_000 + n}`, accepted);
      outcomes.push(outcome);
      if (outcome !== "202") return;
    }
  };
  return {
    outcomes,
    accepted,
    ended: Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index))),
  };
}

async function post({ service, live }: World, to: string, accepted: MessageAt[]): Promise<string> {
  try {
    const response = await fetch(`${service.url}/v1/sms/messages`, {
      method: "POST",
      headers: { Authorization: `Bearer ${live.apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to, template_id: live.templateId }),
    });
    const body = (await response.json()) as { message_id: string };
    if (response.status === 202)
      accepted.push({ path: `/v1/sms/messages/${body.message_id}`, apiKey: live.apiKey });
    else expect(response.headers.get("Retry-After")).toMatch(/^\d+$/);
    return String(response.status);
  } catch (error) {
    return String((error as { code?: string }).code);
  }
}

onBothStores(
  (store) => {
    test(
      "under load every request is answered or its connection refused, and after a restart all that was accepted is delivered, once each",
      async () => {
        await using world = await openWorld(store);
        const { smsc } = world;
        const load = startLoad(world);
        await smsc.until(() => smsc.submits.length > 100);
        expect(await world.stop()).toBeLessThan(STOP_LIMIT_MS);
        await load.ended;
        expect(load.outcomes.filter((outcome) => !ENDS.has(outcome))).toEqual([]);

        smsc.dial.delayMs = 0;
        await world.restart();
        for (const message of load.accepted) {
          expect(await reached(world.service, message, "delivered", "failed", "expired")).toMatchObject({
            status: "delivered",
          });
        }
        const submittedTo = smsc.submits.map(({ destination }) => destination.address);
        expect(new Set(submittedTo).size).toBe(load.accepted.length);
        expect(submittedTo).toHaveLength(load.accepted.length);
      },
      LIMIT_MS,
    );

    test(
      "a submit_sm that waits for its answer is waited for, settled before the end, and not sent again",
      async () => {
        await using world = await openWorld(store);
        const { smsc, live } = world;
        smsc.dial.holdSubmits = true;
        const message = await live.send("+14155551301");
        await smsc.until(() => smsc.submits.length === 1);
        world.service.kill("SIGTERM");
        await world.service.line(/"msg":"stopping"/);
        smsc.release();
        expect(await world.service.exited).toBe(0);
        await world.restart();
        const { status } = await reached(world.service, message, "sent", "delivered", "failed", "queued");
        expect(["sent", "delivered"]).toContain(status as string);
        expect(smsc.submits).toHaveLength(1);
      },
      LIMIT_MS,
    );

    test(
      "an answer that never comes does not keep the process beyond its 20 seconds",
      async () => {
        await using world = await openWorld(store);
        const { smsc, live } = world;
        smsc.dial.holdSubmits = true;
        const message = await live.send("+14155551302");
        await smsc.until(() => smsc.submits.length === 1);
        expect(await world.stop()).toBeLessThan(STOP_LIMIT_MS);
        smsc.dial.holdSubmits = false;
        await world.restart(LATER);
        expect(await reached(world.service, message, "delivered", "failed")).toMatchObject({
          status: "delivered",
        });
      },
      LIMIT_MS,
    );

    test(
      "a request that is half sent when the signal comes is answered, and a client that stays silent keeps nobody",
      async () => {
        await using world = await openWorld(store);
        const { live } = world;
        const { port } = new URL(world.service.url);
        const half = connect(Number(port), "127.0.0.1");
        const silent = connect(Number(port), "127.0.0.1");
        const heard = collect(half);
        const body = JSON.stringify({ to: "+14155551303", template_id: live.templateId });
        const request = [
          "POST /v1/sms/messages HTTP/1.1",
          "Host: localhost",
          `Authorization: Bearer ${live.apiKey}`,
          "Content-Type: application/json",
          `Content-Length: ${body.length}`,
          "",
          body.slice(0, 10),
        ].join("\r\n");
        await Promise.all([
          written(half, request),
          written(silent, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"),
        ]);
        // By a connection that comes after theirs: when it has been answered, what they wrote has been read.
        await fetch(`${world.service.url}/healthz`, { keepalive: false });
        world.service.kill("SIGTERM");
        await world.service.line(/"msg":"stopping"/);
        half.write(body.slice(10));
        expect(await heard).toMatch(/^HTTP\/1\.1 (202|503)/);
        const startedMs = performance.now();
        expect(await world.service.exited).toBe(0);
        expect(performance.now() - startedMs).toBeLessThan(STOP_LIMIT_MS);
        silent.destroy();
      },
      LIMIT_MS,
    );

    test(
      "a terminal that is closed stops it as SIGTERM does, and under nohup does nothing",
      async () => {
        // If the tests run under nohup, the service would inherit that. It does not inherit a handler.
        if (!stopSignals().includes("SIGHUP")) process.on("SIGHUP", () => {});
        await using world = await openWorld(store);
        const { smsc, live } = world;
        smsc.dial.holdSubmits = true;
        await live.send("+14155551305");
        await smsc.until(() => smsc.submits.length === 1);
        world.service.kill("SIGHUP");
        await world.service.line(/"msg":"stopping"/);
        smsc.release();
        expect(await world.service.exited).toBe(0);
        // As nohup(1) starts it.
        await world.restart({ before: "trap '' HUP" });
        world.service.kill("SIGHUP");
        // The first may have been under way before the signal was there.
        for (let n = 0; n < 3; n++) expect((await fetch(`${world.service.url}/healthz`)).status).toBe(200);
        expect(world.service.output()).not.toContain('"msg":"stopping"');
        world.service.kill("SIGTERM");
        expect(await world.service.exited).toBe(0);
        expect(smsc.submits).toHaveLength(1);
      },
      LIMIT_MS,
    );

    test(
      "messages in line whose time is over do not keep it from ending until all are expired",
      async () => {
        await using world = await openWorld(store, { args: ["--roles", "api"] });
        const { api_key: apiKey } = world.service.sandbox;
        const to = Array.from({ length: 1_000 }, (_, n) => `+1415555${1_000 + n}`);
        const body = { to, dlt_template_id: "1107160000000000001", expire_after_seconds: 5 };
        for (let n = 0; n < 20; n++) {
          const { status } = await send(world.service, { apiKey, path: "/v1/sms/messages", body });
          expect(status).toBe(202);
        }
        await world.stop();
        await world.restart(LATER);
        await world.stop();
        const [left] = await storedRows<{ n: number }>(
          world.service.dataFolder,
          "SELECT count(*) AS n FROM messages WHERE status = 'queued'",
        );
        expect(Number(left?.n)).toBeGreaterThan(0);
      },
      LIMIT_MS,
    );

    test(
      "signals that come together are one, as Ctrl-C comes from the terminal and from npm",
      async () => {
        await using world = await openWorld(store);
        const { smsc, live } = world;
        smsc.dial.holdSubmits = true;
        await live.send("+14155551304");
        await smsc.until(() => smsc.submits.length === 1);
        // All at once: a second after the first, another would be a second signal.
        for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"] as const) world.service.kill(signal);
        await world.service.line(/"msg":"stopping"/);
        smsc.release();
        expect(await world.service.exited).toBe(0);
      },
      LIMIT_MS,
    );
  },
  { atOnce: true },
);

function written(socket: ReturnType<typeof connect>, text: string): Promise<void> {
  return new Promise((resolve) => void socket.write(text, () => resolve()));
}

/** The first answer on a connection. */
function collect(socket: ReturnType<typeof connect>): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (text.includes("\r\n\r\n")) resolve(text);
    });
    socket.on("error", () => resolve(text));
    socket.on("close", () => resolve(text));
  });
}
