import { describe, expect, test } from "bun:test";
import { openAnswerReader } from "./read-answer.ts";

const bytes = (text: string) => Buffer.from(text);

/** What the last piece came to, and what there is of an answer then. */
function read(pieces: readonly string[]) {
  const reader = openAnswerReader();
  let reading: ReturnType<typeof reader.take> = "more";
  for (const piece of pieces) if (reading === "more") reading = reader.take(bytes(piece));
  return { reading, ...reader.answer() };
}

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

const ANSWERS: readonly (readonly [string, string, ReturnType<typeof read>])[] = [
  ["a length", `${OK}Content-Length: 2\r\n\r\nok`, { reading: "ended", status: 200, head: "ok" }],
  ["no length: it ends with the connection", `${OK}\r\nok`, { reading: "more", status: 200, head: "ok" }],
  ["no body", "HTTP/1.1 204 No Content\r\n\r\n", { reading: "ended", status: 204, head: "" }],
  [
    "no body, which it says",
    "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
    { reading: "ended", status: 204, head: "" },
  ],
  ["no reason", "HTTP/1.1 204\r\n\r\n", { reading: "ended", status: 204, head: "" }],
  [
    "lines without CR",
    "HTTP/1.1 200 OK\ncontent-length: 2\n\nok",
    { reading: "ended", status: 200, head: "ok" },
  ],
  [
    "lines without CR, and an empty line with it in the body",
    "HTTP/1.1 200 OK\ncontent-length: 6\n\nok\r\n\r\n",
    { reading: "ended", status: 200, head: "ok " },
  ],
  [
    "a header field on two lines",
    `${OK}x-policy: one;\r\n\ttwo\r\ncontent-length: 2\r\n\r\nok`,
    { reading: "ended", status: 200, head: "ok" },
  ],
  [
    "chunks",
    `${CHUNKED}2\r\nok\r\n1;ext="a;b"\r\n!\r\n0\r\n\r\n`,
    { reading: "ended", status: 200, head: "ok!" },
  ],
  [
    "a chunk whose size is in capital letters",
    `${CHUNKED}A\r\n0123456789\r\n0\r\n\r\n`,
    { reading: "ended", status: 200, head: "0123456789" },
  ],
  ["a trailer", `${CHUNKED}2\r\nok\r\n0\r\nx: y\r\n\r\n`, { reading: "ended", status: 200, head: "ok" }],
  [
    "the same length twice",
    `${OK}content-length: 2\r\ncontent-length: 2\r\n\r\nok`,
    { reading: "ended", status: 200, head: "ok" },
  ],
  [
    "an interim answer first",
    `HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 0\r\n\r\n`,
    { reading: "ended", status: 200, head: "" },
  ],
  [
    "a time to wait, and another one",
    "HTTP/1.1 429 No\r\nretry-after: 7\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n",
    { reading: "ended", status: 429, retryAfter: "7", head: "" },
  ],
];

/** Answers after which the connection is of no use. */
const LAST: readonly (readonly [string, string, ReturnType<typeof read>])[] = [
  [
    "says close",
    `${OK}connection: keep-alive, Close\r\ncontent-length: 2\r\n\r\nok`,
    { reading: "enough", status: 200, head: "ok" },
  ],
  [
    "is HTTP/1.0",
    "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    { reading: "enough", status: 200, head: "ok" },
  ],
  [
    "is followed by more",
    `${OK}content-length: 2\r\n\r\nok${OK}`,
    { reading: "enough", status: 200, head: "ok" },
  ],
  [
    "is followed by more after chunks",
    `${CHUNKED}0\r\n\r\nHTTP/1.1 500`,
    { reading: "enough", status: 200, head: "" },
  ],
  [
    "has two ways to end",
    `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    { reading: "enough", status: 200, head: "ok" },
  ],
  [
    "changes the protocol",
    "HTTP/1.1 101 x\r\nupgrade: y\r\n\r\n",
    { reading: "enough", status: 101, head: "" },
  ],
  [
    "has a body by its length, and none by its status",
    "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n",
    { reading: "enough", status: 204, head: "" },
  ],
  ["has chunks that are none", `${CHUNKED}zz\r\nok`, { reading: "enough", status: 200, head: "" }],
  ["has a chunk longer than it says", `${CHUNKED}1\r\nok\r\n`, { reading: "enough", status: 200, head: "o" }],
];

describe("an answer", () => {
  test.each(ANSWERS)("with %s is read, in one piece and octet by octet", (_, text, expected) => {
    expect(read([text])).toEqual(expected);
    expect(read([...text])).toEqual(expected);
  });

  test.each(LAST)("that %s is read, and is the last of its connection", (_, text, expected) => {
    expect(read([text])).toEqual(expected);
    expect(read([...text])).toMatchObject({ status: expected.status ?? 0, head: expected.head ?? "" });
  });
});

test.each([
  ["another protocol", "SSH-2.0-x\r\n"],
  ["its beginning alone", "S"],
  ["HTTP/2", "HTTP/2 200\r\n\r\n"],
  ["a status that is none", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["a field without a name", `${OK}: x\r\n\r\n`],
  ["a field without a colon", `${OK}x\r\n\r\n`],
  ["a space before the colon", `${OK}content-length : 2\r\n\r\n`],
  ["two lengths", `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
  ["a negative length", `${OK}content-length: -2\r\n\r\nok`],
  ["interim answers without end", "HTTP/1.1 100 Continue\r\n\r\n".repeat(700)],
  ["a header without end", `${OK}${"x: y\r\n".repeat(3_000)}`],
])("%s is malformed", (_, text) => {
  expect(read([text])).toEqual({ reading: "malformed" });
});

test("a header of 16 KiB is read, in however many pieces it comes, and no longer one", () => {
  const end = "content-length: 0\r\n\r\n";
  const headerOf = (length: number) => `${OK}x: ${"y".repeat(length - OK.length - end.length - 5)}\r\n${end}`;
  for (const [length, reading] of [
    [16 * 1024, "ended"],
    [16 * 1024 + 1, "malformed"],
  ] as const) {
    const header = headerOf(length);
    for (const pieces of [[header], header.match(/[\s\S]{1,100}/g) ?? []])
      expect(read(pieces).reading).toBe(reading);
  }
});

test("chunks without end are read up to a limit, however small they are", () => {
  const reader = openAnswerReader();
  expect(reader.take(bytes(CHUNKED))).toBe("more");
  let taken = 0;
  while (reader.take(bytes("1\r\nx\r\n")) === "more") taken += 6;
  expect(taken).toBeLessThan(256 * 1024);
  expect(reader.answer()).toMatchObject({ status: 200, head: "x".repeat(1024) });
});

test("a line of a size that does not end is read up to a limit", () => {
  const reader = openAnswerReader();
  reader.take(bytes(CHUNKED));
  let taken = 0;
  while (reader.take(bytes("0".repeat(1024))) === "more") taken++;
  expect(taken).toBeLessThan(256);
});

test.each([
  ["a length", `${OK}content-length: 10000000\r\n\r\n`],
  ["no length", `${OK}\r\n`],
  ["one large chunk", `${CHUNKED}989680\r\n`],
])("of a body with %s 64 KiB are read", (_, header) => {
  const reader = openAnswerReader();
  reader.take(bytes(header));
  expect(reader.take(Buffer.alloc(64 * 1024, "x"))).toBe("more");
  expect(reader.take(Buffer.alloc(1, "x"))).toBe("enough");
  expect(reader.answer()).toMatchObject({ status: 200, head: "x".repeat(1024) });
});
