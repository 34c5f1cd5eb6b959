import { afterEach, beforeEach, expect, test } from "bun:test";
import { type OutboundRig, startOutboundRig } from "../../../test/fakes/outbound-rig.ts";

let rig: OutboundRig;

beforeEach(async () => {
  rig = await startOutboundRig();
});

afterEach(() => rig.stop());

const together = (names: readonly string[]) =>
  Promise.all(names.map((name) => rig.post(rig.receiver.url({ name }))));

const asked = () => rig.dns.asked.splice(0).toSorted();

test("attempts to one host that begin together ask for its addresses once", async () => {
  const outcomes = await together(["hooks.test", "hooks.test", "hooks.test"]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["answered", "answered", "answered"]);
  expect(asked()).toEqual(["A hooks.test", "AAAA hooks.test"]);
  expect(rig.receiver.deliveries).toHaveLength(3);
});

test("other hosts have lookups of their own", async () => {
  await together(["a.hooks.test", "b.hooks.test", "a.hooks.test"]);
  expect(asked()).toEqual(["A a.hooks.test", "A b.hooks.test", "AAAA a.hooks.test", "AAAA b.hooks.test"]);
});

test("a later attempt asks again, and a name that has moved inside is refused there", async () => {
  await together(["hooks.test", "hooks.test"]);
  rig.dns.a.set("hooks.test", ["10.0.0.7"]);
  const moved = await together(["hooks.test", "hooks.test"]);
  expect(moved).toMatchObject([{ reason: "refused_address" }, { reason: "refused_address" }]);
  expect(rig.receiver.deliveries).toHaveLength(2);
  expect(asked()).toHaveLength(4);
});

test("a failure is told to all who asked, and the next attempt asks anew", async () => {
  rig.dns.failing.add("hooks.test");
  expect(await together(["hooks.test", "hooks.test"])).toMatchObject([{ reason: "dns" }, { reason: "dns" }]);
  rig.dns.failing.clear();
  expect(await together(["hooks.test"])).toMatchObject([{ kind: "answered" }]);
});
