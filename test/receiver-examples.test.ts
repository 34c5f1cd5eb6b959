/** The receivers that the documents show, run as they stand, with webhooks of a running service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { admin } from "./admin.ts";
import { type FakeDns, startFakeDns } from "./fakes/fake-dns.ts";
import { hooksTls } from "./fakes/hooks-tls.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "./postrider-process.ts";
import { allowHooks, newestSecret, sendSms } from "./webhook-rig.ts";

const ROOT = join(import.meta.dir, "..");
const hasPython = Bun.which("python3") !== null;
const CI = Boolean(process.env.CI);

const folder = makeDataFolder();
let service: PostriderProcess;
let dns: FakeDns;
let secret: string;

beforeAll(async () => {
  dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  service = await startPostrider({ dataFolder: folder.path });
  await allowHooks(service, dns.address);
  secret = await newestSecret(service);
  writeFileSync(join(folder.path, "cert.pem"), hooksTls.cert);
  writeFileSync(join(folder.path, "key.pem"), hooksTls.key);
});

afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
  dns.close();
  folder.remove();
});

interface Receiver extends AsyncDisposable {
  readonly port: number;
  /** The next line it prints. */
  line(): Promise<string>;
}

async function start(command: readonly string[], env: Record<string, string> = {}): Promise<Receiver> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? "", PORT: "0", WEBHOOK_SECRET: secret, ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = linesOf(child.stdout);
  const line = async () => String((await lines.next()).value);
  const port = Number(/^listening (\d+)$/.exec(await line())?.[1]);
  return {
    port,
    line,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

const RECEIVERS = [
  { language: "TypeScript", file: "examples/receive-webhooks.ts", run: process.execPath, shown: "isGenuine" },
  { language: "Python", file: "examples/receive_webhooks.py", run: "python3", shown: "is_genuine" },
];

describe.each(RECEIVERS)("$language", ({ run, file, shown }) => {
  const isMissing = run === "python3" && !hasPython;
  const runs = test.skipIf(isMissing && !CI); // skipped: no Python here
  const command = [run, join(ROOT, file)];

  runs("takes what the service delivers, and says what it was", async () => {
    const files = { TLS_CERT: join(folder.path, "cert.pem"), TLS_KEY: join(folder.path, "key.pem") };
    await using receiver = await start(command, files);
    const id = await sendSms(service, { callback_url: `https://hooks.test:${receiver.port}/` });
    expect(await receiver.line()).toBe(`sms.sent evt_${id}_1`);
    expect(await receiver.line()).toBe(`sms.delivered evt_${id}_2`);
  });

  runs("takes the event of `webhooks test`, which is of no message", async () => {
    const files = { TLS_CERT: join(folder.path, "cert.pem"), TLS_KEY: join(folder.path, "key.pem") };
    await using receiver = await start(command, files);
    const url = `https://hooks.test:${receiver.port}/`;
    const body = { account_id: service.sandbox.account_id, url };
    const { ok, id } = await admin<{ ok: boolean; id: string }>(service, "/webhooks/test", body);
    expect(ok).toBe(true);
    expect(await receiver.line()).toBe(`webhook.test ${id}`);
  });

  runs("refuses what is unsigned, changed, of another secret, or old", async () => {
    await using receiver = await start(command);
    const body = '{"type":"sms.sent","data":{"message_id":"m","sequence":1}}';
    const deliver = async ({ by = secret, at = new Date(), sent = body, headers = {} }) => {
      const signature = new Webhook(by).sign("evt_1", at, body);
      const response = await fetch(`http://127.0.0.1:${receiver.port}/`, {
        method: "POST",
        body: sent,
        headers: {
          "webhook-id": "evt_1",
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": signature,
          ...headers,
        },
      });
      return response.status;
    };
    const other = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    expect(await deliver({})).toBe(204);
    expect(await deliver({ headers: { "webhook-signature": "" } })).toBe(401);
    expect(await deliver({ headers: { "webhook-timestamp": "soon" } })).toBe(401);
    expect(await deliver({ sent: body.replace("1}", "2}") })).toBe(401);
    expect(await deliver({ by: other })).toBe(401);
    expect(await deliver({ at: new Date(Date.now() - 600_000) })).toBe(401);
    const both = `v1,AAAA ${new Webhook(secret).sign("evt_1", new Date(), body)}`;
    expect(await deliver({ headers: { "webhook-signature": both } })).toBe(204);
  });

  runs("does not start without a secret, with which anybody could sign", async () => {
    for (const env of [{}, { WEBHOOK_SECRET: "" }]) {
      const child = Bun.spawn([...command], {
        env: { PATH: process.env.PATH ?? "", PORT: "0", ...env },
        stdout: "pipe",
        stderr: "pipe",
      });
      const said = await linesOf(child.stdout).next();
      child.kill();
      expect([said.done, await child.exited]).toEqual([true, 1]);
      expect(await new Response(child.stderr).text()).toContain("WEBHOOK_SECRET is not set");
    }
  });

  test("is what its document shows", () => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const start = text.search(new RegExp(`^(function|def) ${shown}`, "m"));
    const shownText = text.slice(start, text.indexOf("\n\n", start)).trim();
    expect(shownText.length).toBeGreaterThan(300);
    expect(readFileSync(join(ROOT, "docs/webhooks.md"), "utf8")).toContain(shownText);
  });
});
