import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeDns, startFakeDns } from "../../../test/fakes/fake-dns.ts";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { until } from "../../../test/until.ts";
import { createDns } from "./dns.ts";
import { createFreshResolvers } from "./fresh-resolvers.ts";

let fake: FakeDns;
beforeEach(async () => {
  fake = await startFakeDns();
});
afterEach(() => fake.close());

function open() {
  const clock = createHeldClock();
  const settings = async () => ({ dns_servers: fake.address });
  const dns = createDns({ settings }, clock, createFreshResolvers(clock));
  return { clock, dns };
}

test("a domain whose answer nobody can read keeps no mail to others waiting", async () => {
  const { dns } = open();
  fake.mx.set("shop.test", ["10 mx.shop.test"]);
  fake.silent.add("shop.test");
  fake.garbled.add("evil.test");
  const shop = dns.resolveMx("shop.test");
  await expect(dns.resolveMx("evil.test")).rejects.toThrow();
  fake.silent.clear();
  expect(await shop).toEqual([{ exchange: "mx.shop.test", priority: 10 }]);
});

test("where mail goes is asked for once in ten seconds, and anew while there was no answer", async () => {
  const { dns, clock } = open();
  await expect(dns.resolve4("mx.shop.test")).rejects.toMatchObject({ code: "ENOTFOUND" });
  fake.a.set("mx.shop.test", ["192.0.2.1"]);
  expect(await Promise.all([1, 2].map(() => dns.resolve4("mx.shop.test")))).toEqual([
    ["192.0.2.1"],
    ["192.0.2.1"],
  ]);
  fake.a.set("mx.shop.test", ["192.0.2.2"]);
  await clock.advance(9_999);
  expect(await dns.resolve4("mx.shop.test")).toEqual(["192.0.2.1"]);
  await clock.advance(1);
  expect(await dns.resolve4("mx.shop.test")).toEqual(["192.0.2.2"]);
  expect(fake.asked).toEqual(["A mx.shop.test", "A mx.shop.test", "A mx.shop.test"]);
  expect(clock.pending()).toBe(0);
});

test("a record that was published or changed is seen at once", async () => {
  const { dns } = open();
  await expect(dns.resolveTxt("_postrider.shop.test")).rejects.toMatchObject({ code: "ENOTFOUND" });
  for (const text of ["a slip", "as it should be"]) {
    fake.txt.set("_postrider.shop.test", text);
    expect(await dns.resolveTxt("_postrider.shop.test")).toEqual([[text]]);
  }
});

test("who asks is told after five seconds that nobody answers", async () => {
  const { dns, clock } = open();
  fake.silent.add("shop.test");
  const refused = dns.resolveCname("shop.test").catch((error: unknown) => error);
  await until(
    async () => fake.asked.length,
    (count) => count > 0,
  );
  await clock.advance(5_000);
  // The resolver itself would go on for four seconds.
  expect(await Promise.race([refused, Bun.sleep(2_000)])).toMatchObject({ code: "ETIMEOUT" });
});
