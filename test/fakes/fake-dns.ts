/** A name server over real UDP, on 127.0.0.1 and a port of its own: answers TXT from a zone, NXDOMAIN for the rest (RFC 1035). */
import { createSocket } from "node:dgram";

export interface FakeDns {
  /** `127.0.0.1:port`, as resolvers take it. */
  readonly address: string;
  /** TXT values by name; change them at any time. */
  readonly txt: Map<string, string>;
  /** CNAME targets by name. */
  readonly cname: Map<string, string>;
  close(): void;
}

const TYPE = { CNAME: 5, TXT: 16 };

export async function startFakeDns(): Promise<FakeDns> {
  const txt = new Map<string, string>();
  const cname = new Map<string, string>();
  const socket = createSocket("udp4");
  socket.on("message", (query, peer) => {
    const { name, type, end } = readQuestion(query);
    const data =
      type === TYPE.TXT
        ? txtData(txt.get(name))
        : type === TYPE.CNAME
          ? nameData(cname.get(name))
          : undefined;
    socket.send(answer(query.subarray(0, end), { type, data }), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { address: `127.0.0.1:${socket.address().port}`, txt, cname, close: () => socket.close() };
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

function answer(question: Buffer, { type, data }: { type: number; data: Buffer | undefined }): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(data ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(data ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  if (!data) return head;
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0);
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt32BE(60, 6);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, fixed, data]);
}

function txtData(value: string | undefined): Buffer | undefined {
  if (value === undefined) return undefined;
  const strings = value.match(/.{1,255}/g) ?? [""];
  return Buffer.concat(
    strings.map((each) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each, "latin1")])),
  );
}

function nameData(name: string | undefined): Buffer | undefined {
  if (name === undefined) return undefined;
  const labels = name
    .split(".")
    .map((each) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each, "latin1")]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
