/** The two gateways of `kannel.ts`, each with one connector to an SMSC of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin } from "../test/admin.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../test/live-sms.ts";
import { makeDataFolder, onPostgres, type Sandbox, startPostrider } from "../test/postrider-process.ts";
import { httpRequest } from "./offer.ts";
import { freePorts, reachable } from "./ports.ts";
import { type SmscProcess, startSmsc } from "./smsc-process.ts";

export interface Ours extends Gateway {
  readonly url: string;
  readonly sandbox: Sandbox;
  /** The account that `request` is of. */
  readonly live: LiveSms;
}

export interface OursOptions {
  /** Of the PostgreSQL that it is to store in. */
  readonly databaseUrl: string;
  readonly callbackUrl?: string | undefined;
}

export interface Gateway {
  readonly smsc: SmscProcess;
  readonly port: number;
  /** Of the process that answers the requests. */
  readonly pid: number;
  /** One message, for `offer`. */
  readonly request: string;
  stop(): Promise<void>;
}

/** submit_sm that may be unanswered, on either. */
const WINDOW = 100;

/**
 * An account's one-time passwords, durably: each 202 is on disk.
 *
 * @param args of `serve`; without the role `delivery` messages are accepted and stay
 */
export async function startOurs(args: readonly string[] = [], options?: OursOptions): Promise<Ours> {
  const folder = makeDataFolder();
  const env = onPostgres(options?.databaseUrl);
  const starting = startPostrider({ dataFolder: folder.path, args, env });
  const [smsc, service] = await Promise.all([startSmsc(), starting]);
  const connector = await connectSmsc(service, smsc, { window: WINDOW });
  const body = "Your code is {#var#}";
  const live = await openLiveSms(service, { connectors: [connector], body });
  const isUp = async () =>
    (await admin<{ status?: { state: string } }>(service, `/connectors/${connector}`)).status?.state === "up";
  while (!args.includes("--roles") && !(await isUp())) await Bun.sleep(20);
  const message = {
    to: "+1415{n}",
    template_id: live.templateId,
    variables: { "1": "{n}" },
    callback_url: options?.callbackUrl,
  };
  // The marks are four octets shorter than the numbers that take their place.
  const json = JSON.stringify(message);
  const length = json.replaceAll("{n}", "1000000").length;
  const headers = { Authorization: `Bearer ${live.apiKey}`, "Content-Type": "application/json" };
  const head = httpRequest("POST /v1/sms/messages", { ...headers, "Content-Length": String(length) });
  return {
    smsc,
    live,
    url: service.url,
    sandbox: service.sandbox,
    port: Number(new URL(service.url).port),
    pid: service.pid,
    request: head + json,
    async stop() {
      service.kill("SIGKILL");
      await service.exited;
      smsc.stop();
      folder.remove();
    },
  };
}

/** As Debian packages it: bearerbox and smsbox, receipts asked for and kept in memory, no store on disk, no logs. */
export async function startKannel(): Promise<Gateway> {
  const smsc = await startSmsc();
  const folder = mkdtempSync(join(tmpdir(), "kannel-"));
  const [adminPort = 0, boxPort = 0, sendPort = 0] = await freePorts(3);
  const config = join(folder, "kannel.conf");
  writeFileSync(config, kannelConfig({ smscPort: smsc.port, adminPort, boxPort, sendPort }));
  const bearerbox = Bun.spawn(["bearerbox", "-v", "4", config], { stdout: "ignore", stderr: "ignore" });
  await reachable(boxPort);
  const smsbox = Bun.spawn(["smsbox", "-v", "4", config], { stdout: "ignore", stderr: "ignore" });
  await reachable(sendPort);
  const query = "username=bench&password=bench&from=ACMECO&dlr-mask=31&to=%2B1415{n}&text=Your+code+is+{n}";
  return {
    smsc,
    port: sendPort,
    pid: smsbox.pid,
    request: httpRequest(`GET /cgi-bin/sendsms?${query}`, {}),
    async stop() {
      for (const box of [smsbox, bearerbox]) box.kill("SIGKILL");
      await Promise.all([smsbox.exited, bearerbox.exited]);
      smsc.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Ports {
  readonly smscPort: number;
  readonly adminPort: number;
  readonly boxPort: number;
  readonly sendPort: number;
}

function kannelConfig({ smscPort, adminPort, boxPort, sendPort }: Ports): string {
  return `
group = core
admin-port = ${adminPort}
admin-password = bench
smsbox-port = ${boxPort}
dlr-storage = internal
sms-incoming-queue-limit = -1
sms-outgoing-queue-limit = -1

group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = bench
smsc-password = bench
system-type = bench
interface-version = 34
max-pending-submits = ${WINDOW}

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${sendPort}
max-pending-requests = 10000

group = sendsms-user
username = bench
password = bench
concatenation = true
max-messages = 3
`;
}
