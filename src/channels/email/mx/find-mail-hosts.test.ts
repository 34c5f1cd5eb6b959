import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { findMailHosts, type HostFinder } from "./find-mail-hosts.ts";

interface Zone {
  readonly mx?: readonly string[];
  readonly v4?: Readonly<Record<string, readonly string[]>>;
  readonly alias?: Readonly<Record<string, string>>;
  /** The name whose server does not answer. */
  readonly silent?: string;
  readonly family?: HostFinder["family"];
}

/** The mail hosts of example.net in a DNS that says this, and that there is nothing else. */
function hostsIn({ mx = [], v4 = {}, alias = {}, silent, family = "any" }: Zone) {
  const fails = async (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
  const none = async () => fails("ENOTFOUND");
  const finder: HostFinder = {
    dns: {
      resolveMx: async () =>
        mx.map((record) => {
          const [priority, exchange = ""] = record.split(" ");
          return { priority: Number(priority), exchange };
        }),
      resolveCname: async (name) => {
        if (name === silent) return fails("ESERVFAIL");
        return alias[name] === undefined ? none() : [alias[name]];
      },
      resolve4: async (name) => (name === silent ? fails("ESERVFAIL") : (v4[name] ?? none())),
      resolve6: none,
    },
    rules: { blockedBy: (address) => (address.startsWith("10.") ? "10.0.0.0/8" : undefined) },
    clock: createHeldClock(),
    family,
  };
  return findMailHosts("example.net", finder);
}

test("mail hosts that are named but have no address are a slip of the domain's: they are waited for", async () => {
  expect(await hostsIn({ mx: ["10 mx.example.net", "20 mx2.example.net"] })).toMatchObject({
    kind: "later",
    error: { code: "4.4.4" },
  });
  expect(await hostsIn({})).toMatchObject({ kind: "never", error: { code: "5.1.2" } });
});

test("a domain with a forbidden host takes no mail, unless another host is one that the DNS did not tell of", async () => {
  const zone = { mx: ["10 a.example.net", "20 b.example.net"], v4: { "a.example.net": ["10.0.0.1"] } };
  expect(await hostsIn(zone)).toMatchObject({ kind: "never", error: { code: "5.4.4" } });
  expect(await hostsIn({ ...zone, silent: "b.example.net" })).toMatchObject({
    kind: "later",
    error: { code: "4.4.3" },
  });
});

test("a domain that has only addresses which the connector does not use is there: it is waited for, and it is said why", async () => {
  const v4 = { "example.net": ["192.0.2.1"], "mx.example.net": ["192.0.2.2"] };
  const message = expect.stringContaining("has an IPv6 address, and the connector uses no others");
  for (const mx of [[], ["10 mx.example.net"]])
    expect(await hostsIn({ mx, v4, family: "ipv6" })).toEqual({
      kind: "later",
      error: { code: "4.4.4", message },
    });
  for (const family of ["ipv4", "ipv6"] as const)
    expect(await hostsIn({ family })).toMatchObject({ kind: "never", error: { code: "5.1.2" } });
  expect(await hostsIn({ silent: "example.net", family: "ipv6" })).toMatchObject({
    kind: "later",
    error: { code: "4.4.3" },
  });
});

test("hosts come in order of preference, named as policies and certificates name them", async () => {
  const v4 = { "a.example.net": ["192.0.2.1"], "b.example.net": ["192.0.2.2"] };
  expect(await hostsIn({ mx: ["20 A.Example.NET.", "10 b.example.net"], v4 })).toEqual({
    kind: "hosts",
    hosts: [
      { name: "b.example.net", priority: 10, addresses: ["192.0.2.2"] },
      { name: "a.example.net", priority: 20, addresses: ["192.0.2.1"] },
    ],
  });
});

test("eight aliases in a row that lead to nothing are a circle, and seven are no domain", async () => {
  const chain = (links: number) =>
    Object.fromEntries(
      Array.from({ length: links }, (_, at) => [at === 0 ? "example.net" : `${at}.test`, `${at + 1}.test`]),
    );
  expect(await hostsIn({ alias: chain(7) })).toMatchObject({ kind: "never" });
  expect(await hostsIn({ alias: chain(8) })).toMatchObject({ kind: "later", error: { code: "4.4.4" } });
});

test("an alias that DNS does not tell of may lead to a mail host: it is asked for again", async () => {
  const alias = { "example.net": "other.test" };
  expect(await hostsIn({ alias, silent: "other.test" })).toMatchObject({
    kind: "later",
    error: { code: "4.4.3" },
  });
});
