import { expect, test } from "bun:test";
import { createInboundKeys, type DeliverySession } from "./inbound-keys.ts";

test("as many messages as was said are remembered, and twice as many at most, by the last time that each came", () => {
  const keys = createInboundKeys(500);
  const session = {};
  const take = (fingerprint: string) => {
    const received = { receivedAt: 0, ...keys.of(fingerprint, { copy: 1, receivedAt: 0, sameSince: 0 }) };
    keys.taken(fingerprint, { received, session, atMs: 0 });
    return received.key;
  };
  let others = 0;
  const takeOthers = (count: number) => {
    for (const end = others + count; others < end; others++) take(`other ${others}`);
  };
  const first = take("hello");
  takeOthers(500);
  expect(take("hello")).not.toBe(first);
  takeOthers(500);
  expect(take("hello")).not.toBe(first);
  takeOthers(1_000);
  expect(take("hello")).toBe(first);
});

test("a message that was refused is still known to be new each time that it comes again, and keeps its key", () => {
  const keys = createInboundKeys();
  const session = {};
  const come = () => ({ receivedAt: 0, ...keys.of("words", { copy: 1, receivedAt: 0, sameSince: 0 }) });
  keys.taken("words", { received: come(), session, atMs: 0 });
  const another = come();
  expect(another).toMatchObject({ isKnownNew: true });
  for (let time = 0; time < 2; time++) {
    keys.refused("words", { received: another, session, atMs: 0 });
    expect(come()).toEqual(another);
  }
});

test("what the SMSC has read of a session that was left is known to have arrived, and nothing that it was sent later", () => {
  const keys = createInboundKeys();
  const session: DeliverySession = {};
  const come = (words: string) => {
    return { receivedAt: 0, ...keys.of(words, { copy: 1, receivedAt: 0, sameSince: 0 }) };
  };
  keys.taken("before", { received: come("before"), session, atMs: 100 });
  keys.taken("after", { received: come("after"), session, atMs: 101 });
  session.end = { atMs: 200, readUntilMs: 100 };
  expect(come("before")).toMatchObject({ isKnownNew: true });
  expect(come("after")).toEqual({ receivedAt: 0, key: "after" });
});

test("a span is known if all that came in it is, on sessions that have ended, and nothing of it was refused", () => {
  const keys = createInboundKeys();
  const session: DeliverySession = {};
  const take = (receivedAt: number) => {
    const key = `message of ${receivedAt}`;
    keys.taken(key, { received: { key, receivedAt }, session, atMs: receivedAt });
  };
  expect(keys.knownSpan(0)).toBeUndefined();
  for (const receivedAt of [100, 200, 300]) take(receivedAt);
  expect(keys.knownSpan(0)).toBeUndefined();
  session.end = { atMs: 400, readUntilMs: 300 };
  expect([0, 150, 301].map(keys.knownSpan)).toEqual([
    { since: 100, until: 300 },
    { since: 150, until: 300 },
    undefined,
  ]);
  session.end = { atMs: 400, readUntilMs: 250 };
  expect(keys.knownSpan(0)).toBeUndefined();
  session.end = { atMs: 400, readUntilMs: 300 };
  expect(keys.knownSpan(0)).toBeDefined();
  keys.refused("no", { received: { key: "no", receivedAt: 350 }, session, atMs: 350 });
  expect([keys.knownSpan(350), keys.knownSpan(351)]).toEqual([undefined, undefined]);
});
