import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeDns, startFakeDns } from "../../../test/fakes/fake-dns.ts";
import { createSystemClock } from "../system-clock.ts";
import { createFreshResolvers } from "./fresh-resolvers.ts";

let dns: FakeDns;
let other: FakeDns;
beforeEach(async () => {
  [dns, other] = await Promise.all([startFakeDns(), startFakeDns()]);
  for (const each of [dns, other]) each.a.set("*", ["127.0.0.1"]);
});
afterEach(() => {
  dns.close();
  other.close();
});

test("an answer that nobody can read harms no question but its own", async () => {
  const open = createFreshResolvers(createSystemClock());
  dns.silent.add("hooks.test");
  dns.garbled.add("evil.test");
  const hooks = open(dns.address).resolve4("hooks.test");
  const evil = open(dns.address).resolve4("evil.test");
  await expect(evil).rejects.toThrow();
  dns.silent.clear();
  expect(await hooks).toEqual(["127.0.0.1"]);
});

test("a server that does not answer is waited for once, and asked last from then on", async () => {
  const open = createFreshResolvers(createSystemClock());
  const servers = `${dns.address},${other.address}`;
  for (const name of ["a.test", "b.test", "gone.test"]) dns.silent.add(name);
  other.a.set("gone.test", []);
  expect(await open(servers).resolve4("a.test")).toEqual(["127.0.0.1"]);
  expect(await open(servers).resolve4("b.test")).toEqual(["127.0.0.1"]);
  await expect(open(servers).resolve4("gone.test")).rejects.toMatchObject({ code: "ENOTFOUND" });
  expect(dns.asked).toEqual(["A a.test"]);
  expect(other.asked).toEqual(["A a.test", "A b.test", "A gone.test"]);
});
