/** HTTP/1.1 on a socket, as a gateway that may break it at any place needs it. */
import type { Socket } from "node:net";

export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The requests of a connection, one after the other. `isCut`: none is read beyond its head. */
export async function* requestsOn(socket: Socket, isCut: boolean): AsyncGenerator<WireRequest> {
  let rest = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(END); end >= 0; end = rest.indexOf(END)) {
      if (isCut) return;
      const [first = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
      const headers = new Map(lines.map(toHeader));
      const bodyEnd = end + END.length + Number(headers.get("content-length") ?? 0);
      if (rest.length < bodyEnd) break;
      const [method = "", target = ""] = first.split(" ");
      const body = rest.subarray(end + END.length, bodyEnd).toString("utf8");
      rest = rest.subarray(bodyEnd);
      yield { method, url: new URL(target, "http://gateway"), headers, body };
    }
  }
}

const END = "\r\n\r\n";

function toHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

export interface WireAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `length`: another than that of the body. `hasLength: false`: the body ends with the connection. */
export function headOf(
  { status, headers = {}, body }: WireAnswer,
  { hasLength = true, length = Buffer.byteLength(body) } = {},
): string {
  const own = hasLength ? { "Content-Length": String(length) } : { Connection: "close" };
  const lines = Object.entries({ ...own, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/${hasLength ? "1.1" : "1.0"} ${status} Whatever\r\n${lines.join("")}\r\n`;
}

export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
