/** `postrider listen`: the feed, forwarded to a local program as webhooks. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { createSignals } from "../fakes/signals.ts";
import { verifyWebhook } from "../fakes/verify-webhook.ts";
import { makeDataFolder, type PostriderProcess, startCommand, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores(() => {
  const folder = makeDataFolder();
  let service: PostriderProcess;
  let env: { PORT: string };

  beforeAll(async () => {
    env = { PORT: String(await keptPort()) };
    service = await startPostrider({ dataFolder: folder.path, env });
  });

  afterAll(async () => {
    service.kill("SIGTERM");
    await service.exited;
    folder.remove();
  });

  test("events reach the local program signed, also after the service was away, and a signal ends it cleanly", async () => {
    const local = startLocalProgram();
    const listening = startListening(["--forward-to", local.url]);
    await listening.line(/^listening to /);
    const first = await sendSms();
    await local.until((types) => types.includes(`sms.delivered ${first}`));
    const { account_id } = service.sandbox;
    const { secrets } = await admin<{ secrets: { secret: string }[] }>(
      service,
      `/webhooks/secret?account_id=${account_id}`,
    );
    for (const webhook of local.received) {
      expect(
        verifyWebhook(webhook, { secret: secrets[0]!.secret, nowS: Date.now() / 1_000 }),
      ).toBeUndefined();
      expect(Object.keys(JSON.parse(webhook.body))).toEqual(["type", "timestamp", "data"]);
    }
    expect(local.received[0]?.headers["webhook-id"]).toBe(`evt_${first}_1`);

    service.kill("SIGTERM");
    await service.exited;
    const away = await listening.line(/\(nothing listens there\)/);
    expect(away).toMatch(
      new RegExp(
        `^the feed of ${service.url} cannot be read \\(nothing listens there\\); again in [\\d.]+ s$`,
      ),
    );
    service = await startPostrider({ dataFolder: folder.path, env });
    const second = await sendSms();
    await local.until((types) => types.includes(`sms.delivered ${second}`));
    expect(local.types()).toEqual([
      `sms.sent ${first}`,
      `sms.delivered ${first}`,
      `sms.sent ${second}`,
      `sms.delivered ${second}`,
    ]);

    listening.kill("SIGINT");
    expect(await listening.exited).toBe(0);
    expect(listening.output()).toMatch(new RegExp(`sms.sent ${first} -> 200 in \\d+ ms`));
    expect(listening.output()).not.toContain("9876543210");
    // At the start, and once the service was back.
    expect(listening.output().match(/^listening to /gm)).toHaveLength(2);
    const cursor = /--after (\S+)\n/.exec(listening.output())?.[1];
    const again = startListening(["--forward-to", local.url, "--after", cursor!]);
    const third = await sendSms();
    await again.line(new RegExp(`sms.delivered ${third}`));
    expect(local.types().filter((type) => type.endsWith(first))).toHaveLength(2);
    again.kill("SIGTERM");
    expect(await again.exited).toBe(0);
    await local.stop();
  }, 120_000);

  test("a program that is away is told of on the line of its event, and the next is forwarded all the same", async () => {
    const url = `http://127.0.0.1:${await keptPort()}/hook`;
    const secret = `whsec_${Buffer.from("k".repeat(24)).toString("base64")}`;
    const listening = startListening(["--forward-to", url, "--secret", secret]);
    expect(await listening.line(/^signing with /)).toBe(`signing with ${secret}`);
    await listening.line(/^listening to /);
    const id = await sendSms();
    expect(await listening.line(new RegExp(`sms.sent ${id} -> `))).toEndWith("-> nothing listens there");
    await listening.line(new RegExp(`sms.delivered ${id} -> `));
    listening.kill("SIGINT");
    expect(await listening.exited).toBe(0);
  });

  test("a signal ends it at once though the program does not answer, and what was not forwarded is from there on", async () => {
    const local = startLocalProgram();
    local.hang();
    const listening = startListening(["--forward-to", local.url]);
    await listening.line(/^listening to /);
    const ids = [await sendSms(), await sendSms()];
    await local.until((types) => types.length === 1);
    listening.kill("SIGINT");
    expect(await listening.exited).toBe(0);
    expect(local.types()).toEqual([`sms.sent ${ids[0]}`]);
    expect(listening.output()).toContain(`sms.sent ${ids[0]} -> called off`);
    const cursor = /--after (\S+)\n/.exec(listening.output())?.[1];
    local.answer();
    const again = startListening(["--forward-to", local.url, "--after", cursor!]);
    await local.until((types) => types.length === 5);
    const forwarded = ids.flatMap((id) => [`sms.sent ${id}`, `sms.delivered ${id}`]);
    expect(local.types().slice(1).toSorted()).toEqual(forwarded.toSorted());
    again.kill("SIGINT");
    expect(await again.exited).toBe(0);
    await local.stop();
  });

  test("what cannot work is said at once, and what was not understood ends with code 2", async () => {
    const to = ["--forward-to", "http://localhost:1/"];
    using elsewhere = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.redirect("https://elsewhere.test/v1/events"),
    });
    const cases = [
      [2, ["--forward-to", "hook"], "is not a URL to forward to"],
      [2, ["--forward-to", "localhost:3000"], "is not a URL to forward to"],
      [2, [...to, "--secret", "abc"], "a secret is whsec_"],
      [1, [...to, "--after", "x"], '"x" is not a cursor of this feed'],
      [1, [...to, "--api-key", "wrong"], "refused the API key"],
      [1, [...to, "--api-key", "two\nlines"], "this is no API key"],
      [
        1,
        [...to, "--url", `http://127.0.0.1:${elsewhere.port}`],
        "leads to https://elsewhere.test: if that is",
      ],
      [1, [...to, "--url", "localhost:8080"], '"localhost:8080" is not a URL'],
      [1, [...to, "--url", "http://me:hidden@localhost:8080"], "a password in it: leave both out"],
    ] as const;
    for (const [code, args, problem] of cases) {
      const listening = startListening(args);
      expect([await listening.exited, listening.output()]).toEqual([code, expect.stringContaining(problem)]);
    }
  });

  test("an erasure is asked for on the command line, and done", async () => {
    const id = await sendSms();
    const path = `/v1/sms/messages/${id}`;
    const asked = await runCommand("erasures", "create", "--recipient", "+919876543210", "--json");
    const { id: erasure } = JSON.parse(asked);
    await until(
      () => runCommand("erasures", "show", erasure),
      (shown) => shown.includes("done"),
    );
    const headers = { Authorization: `Bearer ${service.sandbox.api_key}` };
    expect((await fetch(service.url + path, { headers })).status).toBe(404);
    const listed = await runCommand("erasures", "list", "--recipient", "9876543210");
    expect(listed).toContain(erasure);
    expect(listed).not.toContain("9876543210");
  });

  function startListening(args: readonly string[]) {
    return startCommand({ command: "listen", args, dataFolder: folder.path });
  }

  async function runCommand(command: string, ...args: readonly string[]): Promise<string> {
    const run = startCommand({ command, args, dataFolder: folder.path });
    expect(await run.exited).toBe(0);
    return run.output();
  }

  async function sendSms(): Promise<string> {
    const body = {
      to: "+919876543210",
      dlt_template_id: "1107160000000000001",
      variables: { "1": "123456" },
    };
    const { api_key } = service.sandbox;
    const sent = await send(service, { apiKey: api_key, path: "/v1/sms/messages", body });
    return String(sent.body.message_id);
  }

  interface Received {
    readonly headers: Record<string, string>;
    readonly body: string;
  }

  function startLocalProgram() {
    const received: Received[] = [];
    const signals = createSignals();
    let mayAnswer: Promise<void> | undefined;
    let answer = () => {};
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        received.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
        signals.tell();
        await mayAnswer;
        return new Response("thanks");
      },
    });
    const types = () =>
      received.map(({ body }) => {
        const { type, data } = JSON.parse(body);
        return `${type} ${data.message_id}`;
      });
    return {
      url: `http://127.0.0.1:${server.port}/hook`,
      received,
      types,
      until: (isSo: (types: readonly string[]) => boolean) => signals.until(() => isSo(types())),
      hang() {
        mayAnswer = new Promise((resolve) => {
          answer = resolve;
        });
      },
      answer: () => answer(),
      stop: () => server.stop(true),
    };
  }
});
