import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeDns, startFakeDns } from "../../../test/fakes/fake-dns.ts";
import { createSystemClock } from "../system-clock.ts";
import { createLookups, type Lookups } from "./create-lookups.ts";

let dns: FakeDns;
let lookups: Lookups;
beforeEach(async () => {
  dns = await startFakeDns();
  lookups = createLookups({
    program: new URL("../lookup-thread.ts", import.meta.url),
    clock: createSystemClock(),
  });
});
afterEach(async () => {
  await lookups.stop();
  dns.close();
});

/** `expect().rejects` lets no thread's message in while it waits. */
function failureOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => "no failure",
    (error: unknown) => error,
  );
}

test("every question is answered as the resolver answers it, failures with their codes", async () => {
  dns.a.set("shop.test", ["192.0.2.1", "192.0.2.2"]);
  dns.aaaa.set("shop.test", ["2001:db8::1"]);
  dns.mx.set("shop.test", ["10 mx.shop.test"]);
  dns.txt.set("shop.test", "v=spf1 -all");
  dns.cname.set("www.shop.test", "shop.test");
  dns.failing.add("broken.test");
  const { resolve4, resolve6, resolveMx, resolveTxt, resolveCname } = lookups.open(dns.address);
  expect(await resolve4("shop.test")).toEqual(["192.0.2.1", "192.0.2.2"]);
  expect(await resolve6("shop.test")).toEqual(["2001:db8::1"]);
  expect(await resolveMx("shop.test")).toEqual([{ exchange: "mx.shop.test", priority: 10 }]);
  expect(await resolveTxt("shop.test")).toEqual([["v=spf1 -all"]]);
  expect(await resolveCname("www.shop.test")).toEqual(["shop.test"]);
  expect(await failureOf(resolve4("gone.test"))).toMatchObject({ code: "ENOTFOUND" });
  expect(await failureOf(resolve4("broken.test"))).toMatchObject({ code: "ESERVFAIL" });
  expect(await failureOf(lookups.open("no address").resolve4("shop.test"))).toBeInstanceOf(Error);
});

test("a stop ends what is asked, and a question after it is answered all the same", async () => {
  dns.silent.add("silent.test");
  dns.a.set("shop.test", ["192.0.2.1"]);
  const failure = failureOf(lookups.open(dns.address).resolve4("silent.test"));
  await lookups.stop();
  expect(await failure).toMatchObject({ message: "the service stopped" });
  expect(await lookups.open(dns.address).resolve4("shop.test")).toEqual(["192.0.2.1"]);
});

test("no answer is read on the event loop, which one of 4,000 addresses would hold up for 30 ms", async () => {
  await lookups.stop();
  const program = new URL("../no-such-thread.ts", import.meta.url);
  lookups = createLookups({ program, clock: createSystemClock() });
  dns.a.set("shop.test", ["192.0.2.1"]);
  const failure = await failureOf(lookups.open(dns.address).resolve4("shop.test"));
  expect(failure).toMatchObject({ message: expect.stringContaining("the lookup thread") });
  expect(dns.asked).toEqual([]);
});
