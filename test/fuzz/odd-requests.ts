/** Requests that are odd, broken or hostile as HTTP, and the answers that are right. */

/** What a request for an SMS is made of. */
export interface Pieces {
  readonly port: number;
  readonly key: string;
  readonly body: string;
}

/** The octets of a request; a list is sent piece by piece. */
type Sent = string | readonly string[];

/** No answer, and the connection is closed. */
const CLOSED = undefined;

/** By name: what is sent, and the statuses that are right. */
export type OddRequests = Readonly<Record<string, readonly [Sent, ...(number | undefined)[]]>>;

export function smsRequest({ key, body }: Pieces, lines: readonly string[], written = body): string {
  const head = [
    "Host: a",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    "Connection: close",
  ];
  return `POST /v1/sms/messages HTTP/1.1\r\n${[...head, ...lines].join("\r\n")}\r\n\r\n${written}`;
}

export function oddRequests(pieces: Pieces): OddRequests {
  return { ...oddVersions(pieces), ...oddTargets(pieces), ...oddHeaders(pieces), ...oddBodies(pieces) };
}

/** Requests that are followed by something at once, which the listener takes for the next request. */
export function requestsWithMore(pieces: Pieces): readonly string[] {
  const whole = smsRequest(pieces, [sized(pieces)]).replace("Connection: close\r\n", "");
  const chunks = `${pieces.body.length.toString(16)}\r\n${pieces.body}\r\n0\r\nX-A: b\r\n\r\n`;
  return [
    `${whole}garbage\r\n\r\n`,
    whole + whole,
    smsRequest(pieces, ["Transfer-Encoding: chunked"], chunks),
  ];
}

function sized({ body }: Pieces): string {
  return `Content-Length: ${body.length}`;
}

function oddVersions(pieces: Pieces): OddRequests {
  const whole = smsRequest(pieces, [sized(pieces)]);
  const as = (version: string) => whole.replace("HTTP/1.1", version);
  const upgrade = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\n";
  return {
    "HTTP/1.0": [as("HTTP/1.0"), 202],
    "HTTP/1.2": [as("HTTP/1.2"), 505],
    "HTTP/2.0": [as("HTTP/2.0"), 505],
    "http/1.1": [as("http/1.1"), 505],
    "HTTP/0.9": ["GET /healthz\r\n\r\n", 505],
    "a preface of HTTP/2": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    "a greeting of TLS": ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    "a word of SMTP": ["EHLO example.com\r\n", 400, 505, CLOSED],
    "lines that end in LF": [whole.replaceAll("\r\n", "\n"), 505],
    "lines that end in CR": [whole.replaceAll("\r\n", "\r"), 505],
    "a method in small letters": [whole.replace("POST", "post"), CLOSED, 400, 405],
    "a method of no letters": [whole.replace("POST", "P@ST"), 400],
    "a method without an end": [whole.replace("POST", "X".repeat(5_000)), CLOSED, 400, 405],
    TRACE: ["TRACE /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405],
    CONNECT: ["CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404, 400],
    "an upgrade to WebSocket": [`${upgrade}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n`, 200],
    "an upgrade to h2c": [`${upgrade}Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`, 200],
  };
}

function oddTargets({ port }: Pieces): OddRequests {
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  return {
    "a target with a host of ours": [get(`http://127.0.0.1:${port}/healthz`), 200],
    "a target with a host of others": [get("http://elsewhere.example/healthz"), 200, 404],
    "a target with a scheme of no web": [get("file:///etc/passwd"), 400, 404],
    "a target with a name and a password": [get("http://a:b@c/healthz"), 200, 400, 404],
    "the target *": ["OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400, 404],
    "a target without a slash": [get("healthz"), 400],
    "no target": [get(""), 400],
    "two slashes": [get("//healthz"), 404],
    "a way up": [get("/v1/../../../etc/passwd"), 404],
    "a way up in disguise": [get("/v1/%2e%2e/%2e%2e/etc/passwd"), 404],
    "a backslash": [get("/v1\\..\\healthz"), 200, 400, 404],
    "a broken escape": [get("/v1/sms/messages/%zz"), 401],
    "an octet that is no UTF-8": [get("/v1/sms/\xff\xfe"), 400, 404],
    "a NUL": [get("/health\0z"), 400, 505],
    "a tab": [get("/health\tz"), 400, 505],
    "a blank": [get("/healthz x"), 400, 505],
    "a target of 20 KB": [get(`/${"a/".repeat(10_000)}`), 431, 414, CLOSED],
  };
}

function oddHeaders(pieces: Pieces): OddRequests {
  const size = sized(pieces);
  const send = (...lines: string[]) => smsRequest(pieces, lines);
  const get = (lines: string) => `GET /healthz HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`;
  return {
    "no host": [get(""), 400],
    "two hosts": [get("Host: a\r\nHost: b\r\n"), 400],
    "one host twice": [get("Host: a\r\nX-A: b\r\nhost: a\r\n"), 400],
    "two hosts in one line": [get("Host: a, b\r\n"), 400],
    "a host with a blank": [get("Host: a b\r\n"), 400],
    "an empty host": [get("Host:\r\n"), 200],
    "a header over two lines": [send(size, "X-A: b\r\n c"), 400],
    "a key over two lines": [send(size, `X-API-Key:\r\n ${pieces.key}`), 400],
    "a blank before the colon": [send(`Content-Length : ${pieces.body.length}`), 400],
    "a NUL in a value": [send(size, "X-A: b\0c"), 400],
    "a CR in a value": [send(size, "X-A: b\rX-B: c"), 400],
    "a line without a colon": [send(size, "nonsense"), 400],
    "a header without a name": [send(size, ": x"), 400],
    "2,000 headers": [send(size, ...Array.from({ length: 2_000 }, (_, index) => `X-${index}: a`)), 431, 400],
    "a header of 100 KB": [send(size, `X-A: ${"a".repeat(100_000)}`), 431],
    "two tokens": [send(size, "Authorization: Bearer x"), 401],
    "two media types": [send(size, "Content-Type: text/plain"), 415],
    "two idempotency keys": [send(size, "Idempotency-Key: a", "Idempotency-Key: b"), 400],
    "an expectation nobody knows": [send(size, "Expect: 200-ok"), 202, 417],
    "a body that is sent once it is asked for": [
      [smsRequest(pieces, [size, "Expect: 100-continue"], ""), pieces.body],
      202,
    ],
  };
}

function oddBodies(pieces: Pieces): OddRequests {
  const { body } = pieces;
  const length = body.length;
  const hex = length.toString(16);
  const sent = (...lines: string[]) => smsRequest(pieces, lines);
  const chunked = (written: string) => smsRequest(pieces, ["Transfer-Encoding: chunked"], written);
  const as = (coding: string) => smsRequest(pieces, [`Transfer-Encoding: ${coding}`], "0\r\n\r\n");
  return {
    "the same length twice": [sent(sized(pieces), sized(pieces)), 202, 400],
    "a list of lengths": [sent(`Content-Length: ${length}, ${length}`), 400],
    "a length with a sign": [sent(`Content-Length: +${length}`), 400],
    "a length in hex": [sent(`Content-Length: 0x${hex}`), 400],
    "no length": [sent("Content-Length:"), 400],
    "a length of 23 digits": [sent(`Content-Length: ${"9".repeat(23)}`), 400, 413],
    "a length over 2^53": [sent("Content-Length: 9007199254740993"), 400, 413],
    "a length and chunks": [sent(sized(pieces), "Transfer-Encoding: chunked"), 400],
    "chunks of gzip": [as("gzip, chunked"), 400, 415, 501],
    "chunks of chunks": [as("chunked, chunked"), 400, 501],
    "a coding that looks like chunks": [as("xchunked"), 400, 501],
    "two codings": [as("chunked\r\nTransfer-Encoding: identity"), 400, 501],
    "a chunk with a note": [chunked(`${hex};a=b\r\n${body}\r\n0\r\n\r\n`), 202, 400],
    "a chunk with a note without an end": [
      chunked(`${hex};${"a".repeat(100_000)}\r\n${body}\r\n0\r\n\r\n`),
      400,
      413,
    ],
    "a chunk of a size that is none": [chunked(`zz\r\n${body}\r\n0\r\n\r\n`), 400],
    "a chunk of less than nothing": [chunked(`-1\r\n${body}\r\n0\r\n\r\n`), 400],
    "a chunk with 0x": [chunked(`0x${hex}\r\n${body}\r\n0\r\n\r\n`), 400],
    "a chunk of all the memory there is": [chunked(`7fffffffffffffff\r\n${body}\r\n0\r\n\r\n`), 400, 413],
    "a chunk of more than fits a number": [chunked(`ffffffffffffffffff\r\n${body}\r\n0\r\n\r\n`), 400, 413],
    "a chunk that is longer than it says": [chunked(`5\r\n${body}\r\n0\r\n\r\n`), 400],
    "chunks that end in LF": [chunked(`${hex}\n${body}\n0\n\n`), 400],
  };
}
