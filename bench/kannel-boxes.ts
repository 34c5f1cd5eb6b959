/** Debian's Kannel before an SMSC of ours, for `kannel-fates.ts`: bearerbox with smsbox or with opensmppbox, to be killed and started again. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeSmsc, startFakeSmsc } from "../test/fakes/fake-smsc.ts";
import { KANNEL_SMSC, type KannelPorts, writeKannelConfig } from "./kannel-config.ts";
import { reachable } from "./ports.ts";

export type Box = "bearerbox" | "smsbox" | "opensmppbox";

export interface Boxes {
  /** What is behind Kannel: each message that it sends comes here, and gets a receipt a second later. */
  readonly smsc: FakeSmsc;
  /** Of sendsms, or of opensmppbox. */
  readonly port: number;
  /** Kills boxes, and starts them again in this order. */
  restart(...names: readonly Box[]): Promise<void>;
  stop(): Promise<void>;
}

const RECEIPT_MS = 1_000;

/** As docs/http-gateways.md tells an operator to write it. */
const AS_DOCUMENTED = {
  smsc: "reconnect-delay = 1",
  smsbox: "http-request-retry = 100\nhttp-queue-delay = 2",
  user: "max-messages = 10",
};

/** @param opensmppbox the program; absent: smsbox */
export async function startBoxes(opensmppbox?: string): Promise<Boxes> {
  // Kannel takes ids for numbers.
  const writeId = (id: string) => String(Number.parseInt(id, 16));
  const smsc = await startFakeSmsc({ receipts: "none", writeId });
  const { folder, ports, config } = await writeKannelConfig(smsc.port, AS_DOCUMENTED);
  const own = join(folder, "opensmppbox.conf");
  writeFileSync(own, opensmppboxConfig(ports, folder));
  writeFileSync(join(folder, "logins"), "acme secret acme *.*.*.*\n");
  const commands: Record<Box, readonly [command: string, config: string, port: number]> = {
    bearerbox: ["bearerbox", config, ports.box],
    smsbox: ["smsbox", config, ports.send],
    opensmppbox: [opensmppbox ?? "", own, ports.send],
  };
  const running = new Map<Box, ReturnType<typeof Bun.spawn>>();
  const start = async (name: Box) => {
    const [command, file, listens] = commands[name];
    running.set(name, Bun.spawn([command, "-v", "4", file], { stdout: "ignore", stderr: "ignore" }));
    await reachable(listens);
  };
  const kill = async (name: Box) => {
    running.get(name)?.kill("SIGKILL");
    await running.get(name)?.exited;
  };
  const reporting = report(smsc);
  await start("bearerbox");
  await start(opensmppbox ? "opensmppbox" : "smsbox");
  return {
    smsc,
    port: ports.send,
    async restart(...names) {
      await Promise.all(names.map(kill));
      for (const name of names) await start(name);
    },
    async stop() {
      clearInterval(reporting);
      await Promise.all([...running.keys()].map(kill));
      await smsc.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends receipts for what asks for one, again until they are acknowledged, as an SMSC does. */
function report(smsc: FakeSmsc): ReturnType<typeof setInterval> {
  const owed = new Map<number, number>();
  let seen = 0;
  return setInterval(() => {
    for (; seen < smsc.submits.length; seen++)
      if (smsc.submits[seen]?.registeredDelivery) owed.set(seen, Date.now() + RECEIPT_MS);
    for (const [index, dueAt] of owed) {
      const submit = smsc.submits[index];
      if (dueAt > Date.now() || !submit || !smsc.bound().length) continue;
      owed.set(index, Date.now() + 5 * RECEIPT_MS);
      void smsc.sendReceipt(submit, "DELIVRD").then(() => owed.delete(index));
    }
  }, 50);
}

function opensmppboxConfig({ send, box }: KannelPorts, folder: string): string {
  return `
group = core
dlr-storage = internal

group = opensmppbox
opensmppbox-id = open
opensmppbox-port = ${send}
bearerbox-host = 127.0.0.1
bearerbox-port = ${box}
our-system-id = KANNEL
route-to-smsc = ${KANNEL_SMSC}
smpp-logins = "${join(folder, "logins")}"
use-systemid-as-smsboxid = true
`;
}
