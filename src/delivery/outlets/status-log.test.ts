import { expect, test } from "bun:test";
import type { ChannelStatus } from "../../channels/channel.ts";
import type { Connector } from "../../core/records/accounts.ts";
import { createStatusLog } from "./status-log.ts";

const MINUTE = 60_000;

function start() {
  const lines: string[] = [];
  let nowMs = 0;
  const line = (fields: Record<string, unknown>, message: string) =>
    void lines.push([message, fields.reason].filter(Boolean).join(": "));
  const tell = createStatusLog({ log: { info: line, warn: line }, clock: { monotonicMs: () => nowMs } }, {
    id: "c",
    name: "first",
  } as Connector);
  return {
    lines,
    /** The connector is tried in vain every 20 s. */
    fail(forMs: number, reason = "refused") {
      for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += 20_000) {
        tell({ state: "connecting", since: 0 });
        tell({ state: "down", since: 0, reason });
      }
    },
    tell: (state: ChannelStatus["state"]) => tell({ state, since: 0 }),
  };
}

test("a connector that stays down is told of at once, and then every ten minutes", () => {
  const { lines, fail, tell } = start();
  tell("up");
  fail(10 * MINUTE);
  expect(lines).toEqual(["connector is up", "connector is connecting", "connector is down: refused"]);
  fail(20 * MINUTE);
  expect(lines.slice(3)).toEqual(["connector is still down: refused", "connector is still down: refused"]);
});

test("another reason is told of at once, and so is its end", () => {
  const { lines, fail, tell } = start();
  fail(MINUTE);
  fail(MINUTE, "wrong password");
  tell("connecting");
  tell("up");
  fail(MINUTE);
  expect(lines).toEqual([
    "connector is connecting",
    "connector is down: refused",
    "connector is down: wrong password",
    "connector is up",
    "connector is connecting",
    "connector is down: refused",
  ]);
});
