/** A mail relay over real TCP that fails at random, by a seed. It remembers every mail: the truth about what was sent. */
import * as net from "node:net";
import { handOnReports } from "./relay-reports.ts";
import { converse, type HandOver, type Offer, type Relay, type RelayOptions } from "./relay-talk.ts";

export interface ChaosRelay {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly mails: readonly HandOver[];
  readonly offers: readonly Offer[];
  /** From now on everything is taken and answered. */
  beKind(): void;
  dropAll(): void;
  /** Closes all connections, and takes none for so long. */
  goAway(ms: number): void;
  /** Reports that no bounce listener has taken yet. */
  owed(): number;
  close(): Promise<void>;
}

/** How often it tries to get rid of reports. */
const PUMP_MS = 50;

export async function startChaosRelay(options: RelayOptions): Promise<ChaosRelay> {
  const relay: Relay = {
    options,
    mails: [],
    offers: [],
    sockets: new Set<net.Socket>(),
    times: new Map<string, number>(),
    isKind: false,
    awayUntilMs: 0,
  };
  const server = net.createServer((socket) => accept(relay, socket));
  const { host = "127.0.0.1", port = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const pump = setInterval(() => handOnReports(relay.mails, options.bouncePorts), PUMP_MS);
  const dropAll = () => {
    for (const socket of relay.sockets) socket.destroy();
  };
  return {
    name: options.name,
    host,
    port: (server.address() as net.AddressInfo).port,
    mails: relay.mails,
    offers: relay.offers,
    beKind() {
      relay.isKind = true;
      relay.awayUntilMs = 0;
    },
    dropAll,
    goAway(ms) {
      relay.awayUntilMs = Date.now() + ms;
      dropAll();
    },
    owed: () => relay.mails.filter(({ report }) => report && report.storedAtMs === undefined).length,
    close() {
      clearInterval(pump);
      dropAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function accept(relay: Relay, socket: net.Socket): void {
  socket.on("error", () => {});
  if (Date.now() < relay.awayUntilMs) {
    socket.destroy();
    return;
  }
  relay.sockets.add(socket);
  socket.on("close", () => relay.sockets.delete(socket));
  // A client that resets the connection ends it with an error.
  converse(relay, socket).catch(() => {});
}
