/** Which of a name's addresses are tried, what ends it, and what it leaves behind. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../../../test/fakes/fake-webhook-receiver.ts";
import { type OutboundRig, startOutboundRig } from "../../../test/fakes/outbound-rig.ts";
import { startRawPeer } from "../../../test/fakes/raw-peer.ts";
import { until } from "../../../test/until.ts";

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

test("an address whose TLS breaks is passed over for another one, and what it did is told if none can be connected to", async () => {
  const { dns, receiver, post } = rig;
  const peer = await startRawPeer((socket) => socket.destroy(), { host: "127.0.0.2", port: receiver.port });
  dns.a.set("hooks.test", ["127.0.0.2", "127.0.0.1"]);
  expect(await post()).toMatchObject({ status: 200 });
  dns.a.set("hooks.test", ["127.0.0.3", "127.0.0.2", "127.0.0.4"]);
  expect(await post()).toMatchObject({ kind: "failed", reason: "tls" });
  await peer.stop();
});

test("a silent address delays one POST a minute, as long as another one takes them", async () => {
  const { dns, receiver, clock, post } = rig;
  let asked = 0;
  const peer = await startRawPeer(() => void asked++, { host: "127.0.0.2", port: receiver.port });
  dns.a.set("hooks.test", ["127.0.0.2", "127.0.0.1"]);
  for (const times of [1, 2]) {
    const delayed = post();
    await until(() => asked === times);
    const others = times === 1 ? [] : [await post(), await post()];
    await clock.advance(4_000);
    expect(await delayed).toMatchObject({ status: 200, ms: 4_000 });
    others.push(await post());
    expect(others.map(({ ms }) => ms)).toEqual(others.map(() => 0));
    await clock.advance(60_000);
  }
  expect(asked).toBe(2);
  await peer.stop();
});

test("an address that can be connected to again has its place at once", async () => {
  const { dns, receiver, clock, post } = rig;
  dns.a.set("hooks.test", ["127.0.0.2", "127.0.0.1"]);
  expect(await post()).toMatchObject({ status: 200 });
  const again = await startFakeWebhookReceiver({ host: "127.0.0.2", port: receiver.port });
  await clock.advance(60_000);
  for (let count = 0; count < 3; count++) expect(await post()).toMatchObject({ status: 200 });
  expect([receiver.deliveries.length, again.deliveries.length]).toEqual([1, 3]);
  await again.close();
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
