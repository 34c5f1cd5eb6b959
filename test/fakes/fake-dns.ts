/** A name server over real UDP, on 127.0.0.1 and a port of its own: answers from a zone, NXDOMAIN for the rest (RFC 1035). */
import { createSocket } from "node:dgram";

export interface FakeDns {
  /** `127.0.0.1:port`, as resolvers take it. */
  readonly address: string;
  /** TXT values by name; change them at any time. */
  readonly txt: Map<string, string>;
  /** CNAME targets by name. */
  readonly cname: Map<string, string>;
  /** IPv4 and IPv6 addresses by name; `*` for every name that is not listed. */
  readonly a: Map<string, readonly string[]>;
  readonly aaaa: Map<string, readonly string[]>;
  /** Mail hosts by name, as `10 mx.example.com`; `0 .` is a null MX (RFC 7505). */
  readonly mx: Map<string, readonly string[]>;
  /** Names that are answered with SERVFAIL, or one question about a name: `MX example.com`. */
  readonly failing: Set<string>;
  /** Names that get no answer at all, or none of a type: `AAAA example.com`. */
  readonly silent: Set<string>;
  /** Names that are answered with what no resolver can read. */
  readonly garbled: Set<string>;
  /** What was asked, in order: `A example.com`. */
  readonly asked: string[];
  close(): void;
}

type RecordType = "A" | "CNAME" | "MX" | "TXT" | "AAAA";

const TYPES: Readonly<Record<number, RecordType>> = { 1: "A", 5: "CNAME", 15: "MX", 16: "TXT", 28: "AAAA" };

const CODES = { found: 0x8180, failure: 0x8182, noSuchName: 0x8183 };

export async function startFakeDns(): Promise<FakeDns> {
  const zone = createZone();
  const silent = new Set<string>();
  const failing = new Set<string>();
  const garbled = new Set<string>();
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, peer) => {
    const { name, type, end } = readQuestion(query);
    asked.push(`${TYPES[type] ?? type} ${name}`);
    if (silent.has(name) || silent.has(`${TYPES[type]} ${name}`)) return;
    if (garbled.has(name)) return socket.send(query.subarray(0, end - 1), peer.port, peer.address);
    const isFailing = failing.has(name) || failing.has(`${TYPES[type]} ${name}`);
    const data = isFailing ? undefined : zone.find(name, TYPES[type]);
    const code = data ? CODES.found : isFailing ? CODES.failure : CODES.noSuchName;
    socket.send(answer(query.subarray(0, end), { type, code, data }), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${socket.address().port}`;
  return { address, ...zone.records, failing, silent, garbled, asked, close: () => socket.close() };
}

function createZone() {
  const records = {
    txt: new Map<string, string>(),
    cname: new Map<string, string>(),
    mx: new Map<string, readonly string[]>(),
    a: new Map<string, readonly string[]>(),
    aaaa: new Map<string, readonly string[]>(),
  };
  const hosts = (map: Map<string, readonly string[]>, name: string) => map.get(name) ?? map.get("*") ?? [];
  const read = {
    TXT: (name: string) => txtData(records.txt.get(name)),
    CNAME: (name: string) => nameData(records.cname.get(name)),
    MX: (name: string) => (records.mx.get(name) ?? []).map(mxData),
    A: (name: string) => hosts(records.a, name).map((each) => Buffer.from(each.split(".").map(Number))),
    AAAA: (name: string) => hosts(records.aaaa, name).map(v6Data),
  };
  return {
    records,
    /** `undefined`: there is no such name. */
    find(name: string, type: RecordType | undefined): readonly Buffer[] | undefined {
      const isThere = Object.values(read).some((find) => find(name).length > 0);
      const data = type ? read[type](name) : [];
      return isThere ? data : undefined;
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(
  question: Buffer,
  { type, code, data }: { type: number; code: number; data: readonly Buffer[] | undefined },
): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(code, 2);
  head.writeUInt16BE(data?.length ?? 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...(data ?? []).flatMap((each) => [fixedPart(type, each.length), each])]);
}

function fixedPart(type: number, length: number): Buffer {
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0);
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  // A TTL of 0: no resolver may keep the answer.
  fixed.writeUInt32BE(0, 6);
  fixed.writeUInt16BE(length, 10);
  return fixed;
}

function txtData(value: string | undefined): readonly Buffer[] {
  if (value === undefined) return [];
  const strings = value.match(/.{1,255}/g) ?? [""];
  return [
    Buffer.concat(
      strings.map((each) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each, "latin1")])),
    ),
  ];
}

function nameData(name: string | undefined): readonly Buffer[] {
  if (name === undefined) return [];
  const labels = name
    .split(".")
    .filter(Boolean)
    .map((each) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each, "latin1")]));
  return [Buffer.concat([...labels, Buffer.from([0])])];
}

function mxData(record: string): Buffer {
  const [priority = "0", exchange = "."] = record.split(" ");
  return Buffer.concat([Buffer.from([0, Number(priority)]), ...nameData(exchange)]);
}

/** The URL parser writes any form of an IPv6 address as at most eight groups around one `::`. */
function v6Data(address: string): Buffer {
  const [front = "", back = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [front.split(":").filter(Boolean), back.split(":").filter(Boolean)];
  const gap = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const data = Buffer.alloc(16);
  for (const [index, group] of [...before, ...gap, ...after].entries()) {
    data.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  }
  return data;
}
