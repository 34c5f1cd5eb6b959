/** The two ways of `email.ts` to a sink that takes everything: ours over HTTP, and Debian's Postfix through its queue. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin, liveAccount } from "../test/admin.ts";
import { startFakeDns } from "../test/fakes/fake-dns.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { type MailSink, startMailSink } from "./mail-sink.ts";
import { httpRequest, offer } from "./offer.ts";
import { freePorts, reachable } from "./ports.ts";

export interface MailGateway {
  readonly sink: MailSink;
  /** Offers so many messages; resolves with the time (Unix ms) at which the first was offered. */
  offer(messages: number, connections: number): Promise<number>;
  stop(): Promise<void>;
}

export interface OurMail extends MailGateway {
  readonly service: PostriderProcess;
  readonly apiKey: string;
  /** TXT values by name. */
  readonly zone: ReadonlyMap<string, string>;
}

export interface OurOptions {
  /** Otherwise the relay's port is the sink's. */
  readonly relayPort?: number;
  readonly isSigned?: boolean;
  /** Where bounces come back to; absent: to the sender. */
  readonly returnPathHost?: string;
  readonly connector?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Octets of a message's text. */
const BODY = 2_048;

/** A live account with a verified domain, and a relay that is the sink. Each 202 is on disk. */
export async function startOurs({
  relayPort,
  isSigned = false,
  returnPathHost,
  connector = {},
  env = {},
}: OurOptions): Promise<OurMail> {
  const folder = makeDataFolder();
  const starting = startPostrider({ dataFolder: folder.path, env });
  const [sink, dns, service] = await Promise.all([startMailSink(), startFakeDns(), starting]);
  const { accountId, apiKey } = await liveAccount(service);
  await admin(service, "/settings/dns_servers", { value: dns.address }, "PUT");
  if (returnPathHost !== undefined)
    await admin(service, "/settings/return_path_host", { value: returnPathHost }, "PUT");
  const { connector_id: id } = await admin<{ connector_id: string }>(service, "/connectors", {
    kind: "smtp",
    name: "sink",
    config: { host: "127.0.0.1", port: relayPort ?? sink.port, sign: isSigned, ...connector },
  });
  await admin(service, "/routes", { channel: "email", connector_ids: [id] });
  const domain = await admin<{ domain_id: string; records: { type: string; name: string; value: string }[] }>(
    service,
    "/domains",
    { account_id: accountId, domain: "acme.example" },
  );
  for (const { type, name, value } of domain.records) (type === "TXT" ? dns.txt : dns.cname).set(name, value);
  const isVerified = async () =>
    (await admin<{ verified: boolean }>(service, `/domains/${domain.domain_id}/verify`, {})).verified;
  while (!(await isVerified())) await Bun.sleep(200);
  const isUp = async () =>
    (await admin<{ status?: { state: string } }>(service, `/connectors/${id}`)).status?.state === "up";
  while (!(await isUp())) await Bun.sleep(20);
  return {
    sink,
    service,
    apiKey,
    zone: dns.txt,
    async offer(messages, connections) {
      const port = Number(new URL(service.url).port);
      const { startedAt } = await offer({ port, requests: messages, connections, request: request(apiKey) });
      return startedAt;
    },
    async stop() {
      service.kill("SIGKILL");
      await service.exited;
      sink.stop();
      dns.close();
      folder.remove();
    },
  };
}

function request(apiKey: string): string {
  const json = JSON.stringify({
    from: { email: "hello@acme.example" },
    to: [{ email: "ann{n}@example.net" }],
    subject: "Your order {n}",
    body_text: "All is well, and here is what we know. \n".repeat(BODY).slice(0, BODY),
  });
  const length = json.replaceAll("{n}", "1000000").length;
  const headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" };
  return httpRequest("POST /v1/emails/messages", { ...headers, "Content-Length": String(length) }) + json;
}

export interface PostfixOptions {
  readonly sinkPort: number;
  /** More lines of main.cf. */
  readonly settings?: string;
}

export interface Postfix {
  readonly port: number;
  stop(): Promise<void>;
}

/** Why Postfix cannot be run here, if it cannot. */
export function missingForPostfix(): string | undefined {
  const missing = ["postfix", "smtp-source", "smtp-sink"].filter((name) => !Bun.which(name, { PATH }));
  if (missing.length > 0) return `${missing.join(", ")} not installed (Debian: apt-get install postfix)`;
  return process.getuid?.() === 0 ? undefined : "Postfix's master must be started by root";
}

const PATH = `${process.env.PATH}:/usr/sbin`;

/** An instance of its own: own configuration, own queue, own port, everything relayed to the sink. Otherwise Debian's defaults. */
export async function startPostfix({ sinkPort, settings = "" }: PostfixOptions): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), "postfix-"));
  const [port = 0] = await freePorts(1);
  for (const name of ["etc", "queue", "data"]) mkdirSync(join(folder, name), { mode: 0o755 });
  Bun.spawnSync(["chmod", "755", folder]);
  Bun.spawnSync(["chown", "postfix", join(folder, "data")]);
  writeFileSync(join(folder, "etc/main.cf"), mainCf(folder, sinkPort) + settings);
  writeFileSync(join(folder, "etc/master.cf"), masterCf(port));
  const command = (word: string) => Bun.spawn(["postfix", "-c", join(folder, "etc"), word], QUIET).exited;
  if ((await command("start")) !== 0) throw new Error("postfix did not start");
  await reachable(port);
  return {
    port,
    async stop() {
      await command("stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const QUIET = { stdout: "ignore", stderr: "ignore", env: { ...process.env, PATH } } as const;

/** As Debian packages it, but for where things are. */
function mainCf(folder: string, sinkPort: number): string {
  return `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
myhostname = postfix.bench.example
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:${sinkPort}
smtp_tls_security_level = none
smtpd_relay_restrictions = permit_mynetworks, reject
alias_maps =
alias_database =
`;
}

function masterCf(port: number): string {
  return `
127.0.0.1:${port} inet n - n - - smtpd
pickup    unix  n - n 60 1 pickup
cleanup   unix  n - n - 0 cleanup
qmgr      unix  n - n 300 1 qmgr
tlsmgr    unix  - - n 1000? 1 tlsmgr
rewrite   unix  - - n - - trivial-rewrite
bounce    unix  - - n - 0 bounce
defer     unix  - - n - 0 bounce
trace     unix  - - n - 0 bounce
verify    unix  - - n - 1 verify
flush     unix  n - n 1000? 0 flush
proxymap  unix  - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp      unix  - - n - - smtp
relay     unix  - - n - - smtp
showq     unix  n - n - - showq
error     unix  - - n - - error
retry     unix  - - n - - error
discard   unix  - - n - - discard
local     unix  - n n - - local
anvil     unix  - - n - 1 anvil
scache    unix  - - n - 1 scache
`;
}

/** `smtp-source` → Postfix → `smtp-sink`. */
export async function startTheirs(): Promise<MailGateway> {
  const sink = await startMailSink();
  const postfix = await startPostfix({ sinkPort: sink.port });
  return {
    sink,
    async offer(messages, connections) {
      const startedAt = performance.timeOrigin + performance.now();
      const counts = ["-s", String(connections), "-m", String(messages), "-l", String(BODY)];
      const ends = ["-f", "hello@acme.example", "-t", "ann@example.net", `127.0.0.1:${postfix.port}`];
      const code = await Bun.spawn(["smtp-source", ...counts, ...ends], QUIET).exited;
      if (code !== 0) throw new Error(`smtp-source ended with ${code}`);
      return startedAt;
    },
    async stop() {
      await postfix.stop();
      sink.stop();
    },
  };
}
