import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeDns, startFakeDns } from "../../../test/fakes/fake-dns.ts";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createSystemClock } from "../system-clock.ts";
import { createFreshResolvers } from "./fresh-resolvers.ts";

let dns: FakeDns;
let other: FakeDns;
let third: FakeDns;
beforeEach(async () => {
  [dns, other, third] = await Promise.all([startFakeDns(), startFakeDns(), startFakeDns()]);
  for (const each of [dns, other, third]) each.a.set("*", ["127.0.0.1"]);
});
afterEach(() => {
  for (const each of [dns, other, third]) each.close();
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

/** Asks three servers, of which the first that is asked answers after so many milliseconds: in their order, what each was asked. */
function openThree() {
  const clock = createHeldClock();
  const open = createFreshResolvers(clock);
  const servers = [dns, other, third];
  const ask = async (ms: number, ...names: readonly string[]) => {
    const answers = names.map((name) => open(servers.map(({ address }) => address).join()).resolve4(name));
    await clock.advance(ms);
    await Promise.allSettled(answers);
    return servers.map(({ asked }) => asked.splice(0).length);
  };
  return { ask };
}

test("each server that took two seconds is asked last, and after all of them the first again", async () => {
  const { ask } = openThree();
  for (const asked of [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 0],
  ])
    expect(await ask(2_000, "a.test")).toEqual(asked);
  expect(await ask(1_999, "a.test")).toEqual([0, 1, 0]);
  expect(await ask(0, "a.test")).toEqual([0, 1, 0]);
});

test("callers who waited for a silent server at the same time pass over one server, not over as many as they are", async () => {
  const { ask } = openThree();
  expect(await ask(2_000, "a.test", "b.test")).toEqual([2, 0, 0]);
  expect(await ask(0, "a.test")).toEqual([0, 1, 0]);
});

test("that there is no such name is an answer too, and that nobody could say is none", async () => {
  const { ask } = openThree();
  for (const each of [dns, other, third]) each.failing.add("broken.test");
  dns.a.set("gone.test", []);
  await ask(2_000, "broken.test");
  expect(await ask(2_000, "gone.test")).toEqual([1, 0, 0]);
  expect(await ask(0, "a.test")).toEqual([0, 1, 0]);
});

test("a resolver opens without servers of the operator's: then it has the machine's own", () => {
  expect(() => createFreshResolvers(createHeldClock())(undefined)).not.toThrow();
});

test("a name has up to a hundred addresses and mail hosts, and one with more has none: each would be judged and kept", async () => {
  const open = createFreshResolvers(createSystemClock());
  const numbered = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => text(i));
  for (const [count, name] of [
    [100, "many.test"],
    [101, "too-many.test"],
  ] as const) {
    dns.a.set(
      name,
      numbered(count, (i) => `127.0.0.${i}`),
    );
    dns.aaaa.set(
      name,
      numbered(count, (i) => `2001:db8::${i}`),
    );
    dns.mx.set(
      name,
      numbered(count, (i) => `${i} mx${i}.test`),
    );
  }
  const questions = ["resolve4", "resolve6", "resolveMx"] as const;
  for (const question of questions) {
    expect(await open(dns.address)[question]("many.test")).toHaveLength(100);
    const refused = open(dns.address)[question]("too-many.test");
    await expect(refused).rejects.toMatchObject({ code: "ETOOMANY" });
  }
});
