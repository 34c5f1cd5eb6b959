/** The two gateways of `kannel.ts`, each with one connector to an SMSC of its own. */
import { rmSync } from "node:fs";
import { admin } from "../test/admin.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../test/live-sms.ts";
import { makeDataFolder, onPostgres, type Sandbox, startPostrider } from "../test/postrider-process.ts";
import { KANNEL_LOGIN, writeKannelConfig } from "./kannel-config.ts";
import { httpRequest } from "./offer.ts";
import { reachable } from "./ports.ts";
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
  const { folder, ports, config } = await writeKannelConfig(smsc.port, {
    core: "sms-incoming-queue-limit = -1\nsms-outgoing-queue-limit = -1",
    smsc: `max-pending-submits = ${WINDOW}`,
    smsbox: "max-pending-requests = 10000",
    user: "max-messages = 3",
  });
  const bearerbox = Bun.spawn(["bearerbox", "-v", "4", config], { stdout: "ignore", stderr: "ignore" });
  await reachable(ports.box);
  const smsbox = Bun.spawn(["smsbox", "-v", "4", config], { stdout: "ignore", stderr: "ignore" });
  await reachable(ports.send);
  const query = `${KANNEL_LOGIN}&from=ACMECO&dlr-mask=31&to=%2B1415{n}&text=Your+code+is+{n}`;
  return {
    smsc,
    port: ports.send,
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
