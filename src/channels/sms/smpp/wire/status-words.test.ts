import { expect, test } from "bun:test";
import { type StatusClass, statusCode, statusWord } from "./status-words.ts";

const CLASSES: Readonly<Record<StatusClass, readonly number[]>> = {
  throttled: [0x58],
  full: [0x14],
  transient: [0x08, 0x45, 0x64, 0xff, 0x102],
  session: [0x04, 0x05, 0x0d, 0x0e, 0x0f, 0x53],
  framing: [0x02, 0x03],
  permanent: [
    0x01, 0x06, 0x07, 0x0a, 0x0b, 0x15, 0x33, 0x34, 0x40, 0x42, 0x43, 0x44, 0x48, 0x49, 0x50, 0x51, 0x54,
    0x55, 0x61, 0x62, 0x63, 0x65, 0x66, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xfe, 0x100, 0x101, 0x103, 0x104, 0x400,
    0x4ff, 0x7777,
  ],
};

test.each(Object.entries(CLASSES))("%s", (statusClass, statuses) => {
  for (const status of statuses)
    expect([status, statusWord(status).class]).toEqual([status, statusClass as StatusClass]);
});

test("a connector's own class replaces the table's", () => {
  const own = new Map<number, StatusClass>([
    [0x14, "permanent"],
    [0x402, "throttled"],
  ]);
  expect(statusWord(0x14, own)).toEqual({
    name: "ESME_RMSGQFUL",
    words: "message queue is full",
    class: "permanent",
  });
  expect(statusWord(0x402, own)).toMatchObject({ class: "throttled" });
});

test("a code is eight hexadecimal digits", () => {
  expect(statusCode(0x0b)).toBe("smpp.0x0000000b");
  expect(statusCode(0xffffffff)).toBe("smpp.0xffffffff");
});
