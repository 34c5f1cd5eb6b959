import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeDns, startFakeDns } from "../../../test/fakes/fake-dns.ts";
import { openResolver } from "./dns.ts";

let dns: FakeDns;
beforeEach(async () => {
  dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
});
afterEach(() => dns.close());

test("an answer that nobody can read harms no question but its own", async () => {
  dns.silent.add("hooks.test");
  dns.garbled.add("evil.test");
  const hooks = openResolver(dns.address).resolve4("hooks.test");
  const evil = openResolver(dns.address).resolve4("evil.test");
  await expect(evil).rejects.toThrow();
  dns.silent.clear();
  expect(await hooks).toEqual(["127.0.0.1"]);
});
