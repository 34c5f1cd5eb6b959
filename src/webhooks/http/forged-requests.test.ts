/** What strangers try in order to make this machine talk to its own network (SSRF), against a real name server. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type OutboundRig, startOutboundRig } from "../../../test/fakes/outbound-rig.ts";

let rig: OutboundRig;

/** Nothing is allowed but one address, where the receiver listens. */
beforeAll(async () => {
  rig = await startOutboundRig({ allowed: ["127.0.0.1/32"] });
});

beforeEach(() => {
  rig.dns.a.clear();
  rig.dns.aaaa.clear();
  rig.dns.asked.length = 0;
});

afterAll(() => rig.stop());

/** Ways to write addresses of this machine and its networks. None of them is a question for a name server. */
const ADDRESSES = [
  "127.0.0.2",
  "127.2", // short
  "2130706434", // one number
  "0x7f.0.0.2",
  "0x7f000002",
  "0177.0.0.2",
  "017700000002",
  "0x7f.1.2",
  "127.0.0.2.", // with the root's dot
  "１２７.０.０.２", // full-width digits
  "①②⑦.⓪.⓪.②",
  "127。0。0。2", // ideographic full stops
  "%31%32%37.0.0.2", // escaped
  "0",
  "0.0.0.0",
  "10.0.0.1",
  "0xa000001",
  "169.254.169.254",
  "2852039166",
  "100.64.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "255.255.255.255",
  "224.0.0.1",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::127.0.0.2]",
  "[::ffff:127.0.0.2]",
  "[::ffff:7f00:2]",
  "[0:0:0:0:0:ffff:127.0.0.2]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::127.0.0.1]", // NAT64, of an address that is allowed otherwise
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]", // 6to4
  "[2002:a9fe:a9fe::1]",
  "[2001:0:7f00:1::]", // Teredo
  "[fe80::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fec0::1]",
  "[ff02::1]",
];

/** Not to be sent anywhere. */
const URLS = [
  "http://example.com/",
  "HTTP://127.0.0.1/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:25/_HELO",
  "data:text/plain,x",
  "javascript:alert(1)",
  "//127.0.0.1/",
  "/hook",
  "",
  "https://",
  "https://user@example.com/",
  "https://user:password@127.0.0.1/",
  "https://:password@127.0.0.1/",
  "https://example.com@127.0.0.1/",
  "https://[fe80::1%25eth0]/", // zone ids
  "https://[fe80::1%eth0]/",
  "https://[::1",
  "https://127.0.0.1:99999/",
  "https://256.256.256.256/",
  "https://1.2.3.4.5/",
  "https://a b/",
  "https://a%00b/",
  "https://exa\u0000mple.com/",
  "https://-%2f/",
];

describe("a URL", () => {
  test.each(ADDRESSES)("that names %s is refused without a question and a connection", async (host) => {
    const before = rig.receiver.connections();
    const outcome = await rig.post(`https://${host}:${rig.receiver.port}/`);
    expect(outcome).toMatchObject({ kind: "failed", reason: "refused_address" });
    expect(rig.dns.asked).toEqual([]);
    expect(rig.receiver.connections()).toBe(before);
  });

  test.each(URLS)("like %j is refused", async (url) => {
    const outcome = await rig.post(url);
    expect(outcome).toMatchObject({ kind: "failed", reason: "refused_url" });
    expect(rig.dns.asked).toEqual([]);
  });
});

const ANSWERS: readonly (readonly [string, { a?: readonly string[]; aaaa?: readonly string[] }])[] = [
  ["loopback", { a: ["127.0.0.2"] }],
  ["the clouds' metadata", { a: ["169.254.169.254"] }],
  ["a private network", { a: ["192.168.1.1"] }],
  ["nothing in particular", { a: ["0.0.0.0"] }],
  ["a public address, and a private one behind it", { a: ["8.8.8.8", "10.0.0.1"] }],
  ["a private address, and a public one behind it", { a: ["10.0.0.1", "8.8.8.8"] }],
  ["an allowed address and a private one", { a: ["127.0.0.1", "10.0.0.1"] }],
  ["a public IPv4 address and the loopback of IPv6", { a: ["8.8.8.8"], aaaa: ["::1"] }],
  ["an allowed IPv4 address and a private IPv6 one", { a: ["127.0.0.1"], aaaa: ["fd00:ec2::254"] }],
  ["a mapped address", { aaaa: ["::ffff:127.0.0.2"] }],
  ["a compatible address", { aaaa: ["::127.0.0.1"] }],
  ["NAT64", { aaaa: ["64:ff9b::7f00:1"] }],
  ["local NAT64", { aaaa: ["64:ff9b:1::7f00:1"] }],
  ["6to4", { aaaa: ["2002:7f00:1::1"] }],
  ["Teredo", { aaaa: ["2001:0:7f00:1::1"] }],
  ["link-local", { aaaa: ["fe80::1"] }],
  ["site-local", { aaaa: ["fec0::1"] }],
  ["multicast", { aaaa: ["ff02::1"] }],
  [
    "many public addresses and one that is not",
    { a: [...Array.from({ length: 20 }, (_, i) => `8.8.8.${i}`), "127.0.0.3"] },
  ],
];

describe("a name", () => {
  test.each(ANSWERS)("that leads to %s is refused without a connection", async (_, { a = [], aaaa = [] }) => {
    const before = rig.receiver.connections();
    rig.dns.a.set("trap.hooks.test", a);
    rig.dns.aaaa.set("trap.hooks.test", aaaa);
    const outcome = await rig.post(rig.receiver.url({ name: "trap.hooks.test" }));
    expect(outcome).toMatchObject({ kind: "failed", reason: "refused_address" });
    expect(rig.receiver.connections()).toBe(before);
  });

  test("is asked for once in an attempt, and what was judged is what is connected to", async () => {
    rig.dns.a.set("hooks.test", ["127.0.0.1"]);
    expect(await rig.post()).toMatchObject({ status: 200 });
    expect(rig.dns.asked.toSorted()).toEqual(["A hooks.test", "AAAA hooks.test"]);
  });

  test("that turns inward between attempts is refused, an open connection or not", async () => {
    rig.dns.a.set("hooks.test", ["127.0.0.1"]);
    expect(await rig.post()).toMatchObject({ status: 200 });
    const [deliveries, connections] = [rig.receiver.deliveries.length, rig.receiver.connections()];
    for (const address of ["127.0.0.2", "10.0.0.1", "169.254.169.254"]) {
      rig.dns.a.set("hooks.test", [address]);
      expect(await rig.post()).toMatchObject({ reason: "refused_address" });
    }
    rig.dns.a.set("hooks.test", ["127.0.0.1"]);
    rig.dns.aaaa.set("hooks.test", ["::1"]);
    expect(await rig.post()).toMatchObject({ reason: "refused_address" });
    expect([rig.receiver.deliveries.length, rig.receiver.connections()]).toEqual([deliveries, connections]);
  });

  test("in a form that hides what it is leads nowhere else", async () => {
    rig.dns.a.set("hooks.test", ["127.0.0.1"]);
    for (const name of ["HOOKS.TEST", "hooks.test.", "ｈｏｏｋｓ.test", "hooks%2etest"]) {
      expect(await rig.post(rig.receiver.url({ name }))).toMatchObject({ status: 200 });
      expect(rig.receiver.deliveries.at(-1)?.servername).toBe("hooks.test");
    }
  });

  test.each(["localhost", "localhost.", "LOCALHOST", "a.b.localhost", "ｌｏｃａｌｈｏｓｔ"])(
    "%s is this machine, and the operator has to allow it",
    async (name) => {
      rig.dns.a.set("*", ["8.8.8.8"]);
      // Allowed, and the certificate is for another name: it got as far as that.
      expect(await rig.post(rig.receiver.url({ name }))).toMatchObject({ reason: "tls" });
      expect(rig.dns.asked).toEqual([]);
      expect(await blind(`https://${name}/`)).toMatchObject({ reason: "refused_address" });
    },
  );
});

/** Where nothing is allowed. */
async function blind(url: string) {
  const strict = await startOutboundRig({ allowed: [] });
  const outcome = await strict.post(url);
  await strict.stop();
  return outcome;
}

test("an operator's list allows what it names and nothing else", async () => {
  const allowing = await startOutboundRig({ allowed: ["127.0.0.0/8", "fd00::/8"] });
  allowing.dns.a.set("hooks.test", ["127.0.0.1"]);
  expect(await allowing.post()).toMatchObject({ status: 200 });
  allowing.dns.a.set("hooks.test", ["127.0.0.1", "10.0.0.1"]);
  expect(await allowing.post()).toMatchObject({ reason: "refused_address" });
  await allowing.stop();
});
