/** Which of a name's addresses are tried, what ends it, and what it leaves behind. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { BEHAVIOURS } from "../../../test/fakes/fake-webhook-receiver.ts";
import { type OutboundRig, startOutboundRig } from "../../../test/fakes/outbound-rig.ts";

let rig: OutboundRig;

beforeEach(async () => {
  rig = await startOutboundRig();
});

afterEach(() => rig.stop());

const dead = (count: number) => Array.from({ length: count }, (_, n) => `127.0.0.${n + 2}`);

test("what one address may have taken goes to no other", async () => {
  const { dns, receiver, post } = rig;
  receiver.behave(() => BEHAVIOURS.close);
  dns.aaaa.set("hooks.test", ["::ffff:127.0.0.1"]);
  expect(await post()).toMatchObject({ kind: "failed" });
  expect(receiver.deliveries).toHaveLength(1);
});

test("eight addresses are tried and no ninth, however many a name has", async () => {
  const { dns, receiver, post } = rig;
  dns.a.set("hooks.test", [...dead(8), "127.0.0.1"]);
  expect(await post()).toMatchObject({ kind: "failed", reason: "connect" });
  expect(receiver.connections()).toBe(0);
});

test("no timer is left of an attempt that reached nobody, nor of one whose URL is refused", async () => {
  const { dns, clock, post } = rig;
  dns.a.set("hooks.test", dead(3));
  expect(await post()).toMatchObject({ kind: "failed", reason: "connect" });
  expect(await post("http://hooks.test/")).toMatchObject({ kind: "failed", reason: "refused_url" });
  expect(clock.pending()).toBe(0);
});

test("what an attempt took is counted from its own beginning", async () => {
  await rig.clock.advance(60_000);
  expect(await rig.post()).toMatchObject({ status: 200, ms: 0 });
});
