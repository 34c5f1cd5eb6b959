/** Which hosts a domain's mail goes to, as the DNS says it (RFC 5321 §5.1, RFC 7505). */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmtp, startFakeSmtp } from "../fakes/fake-smtp.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";

onBothStores(() => {
  let smtp: FakeSmtp;
  let mx: LiveMx;

  beforeEach(async () => {
    smtp = await startFakeSmtp();
    mx = await startLiveMx(smtp.port);
  });

  afterEach(async () => {
    await smtp.close();
    await mx.close();
  });

  test("a domain with a null MX takes no mail: bounced at once, and nobody is connected to", async () => {
    mx.dns.mx.set("example.net", ["0 ."]);
    mx.dns.a.set("example.net", ["127.0.0.1"]);
    const message = await mx.send("ann");
    expect(await mx.end(message)).toBe("bounced");
    expect(await mx.firstError(message)).toBe("5.1.10");
    expect(smtp.connections()).toBe(0);
  });

  test("a domain that does not exist has bounced at once", async () => {
    const message = await mx.send("ann@nowhere.example");
    expect(await mx.end(message)).toBe("bounced");
    expect(await mx.firstError(message)).toBe("5.1.2");
  });

  test("aliases that lead in a circle are a slip of the domain's: the message waits, and is delivered once it is mended", async () => {
    mx.dns.cname.set("round.example", "about.example").set("about.example", "round.example");
    const message = await mx.send("ann@round.example");
    expect(await mx.firstError(message)).toBe("4.4.4");
    mx.dns.cname.clear();
    mx.dns.mx.set("round.example", ["10 mx.example.net"]);
    expect(await mx.end(message, 300_000)).toBe("delivered");
  });

  test("an alias of nothing is as good as no domain, and one whose end a failing name server hides is waited for", async () => {
    mx.dns.cname.set("old.example", "gone.example").set("new.example", "hidden.example");
    mx.dns.failing.add("hidden.example");
    const message = await mx.send("ann@old.example");
    expect(await mx.end(message)).toBe("bounced");
    expect(await mx.firstError(message)).toBe("5.1.2");
    expect(await mx.firstError(await mx.send("ann@new.example"))).toBe("4.4.3");
  });

  test("a name server that fails is no verdict: the message waits, and is delivered when it answers", async () => {
    mx.dns.failing.add("example.net");
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("4.4.3");
    mx.dns.failing.clear();
    expect(await mx.end(message, 300_000)).toBe("delivered");
  });

  test("a domain whose mail hosts a failing name server hides gets nothing at its own address: the message waits for them", async () => {
    mx.dns.a.set("example.net", ["127.0.0.1"]);
    mx.dns.failing.add("MX example.net");
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("4.4.3");
    expect(smtp.connections()).toBe(0);
    mx.dns.failing.clear();
    expect(await mx.end(message, 300_000)).toBe("delivered");
  });

  test("a domain without MX takes mail at its own address", async () => {
    mx.dns.mx.delete("example.net");
    mx.dns.a.set("example.net", ["127.0.0.1"]);
    expect(await mx.end(await mx.send("ann"))).toBe("delivered");
  });

  test("with the first host down the next one gets the message, in the same attempt", async () => {
    mx.dns.mx.set("example.net", ["20 mx.example.net", "10 down.example.net"]);
    mx.dns.a.set("down.example.net", ["127.0.0.9"]);
    const message = await mx.send("ann");
    await mx.postrider.passUntil(() => smtp.received.length > 0, 20_000);
    expect(await mx.end(message)).toBe("delivered");
    expect((await mx.timeline(message)).filter(({ kind }) => kind === "attempt")).toHaveLength(1);
  });

  test("an IPv6 address that does not answer leads on to IPv4, and the other way round", async () => {
    mx.dns.aaaa.set("mx.example.net", ["2001:4860:4860::8888"]);
    const message = await mx.send("ann");
    await mx.postrider.passUntil(() => smtp.received.length > 0, 20_000);
    expect(await mx.end(message)).toBe("delivered");
  });

  test("of a domain with very many mail hosts ten are looked up, and of one host's addresses four are tried", async () => {
    const hosts = Array.from({ length: 12 }, (_, at) => `mx${at}.example.net`);
    mx.dns.mx.set(
      "example.net",
      hosts.map((host, at) => `${at} ${host}`),
    );
    mx.dns.a.set(hosts[0]!, ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.1"]);
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("4.4.1");
    const asked = mx.dns.asked.filter((question) => /^A mx/.test(question));
    expect(new Set(asked)).toEqual(new Set(hosts.slice(0, 10).map((host) => `A ${host}`)));
    expect(smtp.connections()).toBe(0);
  });

  test("a mail host in a private network is not connected to, though the domain's DNS says so", async () => {
    mx.dns.mx.set("inside.example", ["10 mx.inside.example"]);
    mx.dns.a.set("mx.inside.example", ["10.0.0.7"]);
    mx.dns.mx.set("both.example", ["10 mx.both.example"]);
    mx.dns.a.set("mx.both.example", ["127.0.0.1"]);
    mx.dns.aaaa.set("mx.both.example", ["::ffff:169.254.169.254"]);
    for (const to of ["ann@inside.example", "ann@both.example"]) {
      const message = await mx.send(to);
      expect(await mx.end(message)).toBe("bounced");
      expect(await mx.firstError(message)).toBe("5.4.4");
    }
    expect(smtp.connections()).toBe(0);
  });

  test("beside a host in a private network, one that a failing name server hides is waited for", async () => {
    mx.dns.mx.set("example.net", ["10 trap.example.net", "20 mx.example.net"]);
    mx.dns.a.set("trap.example.net", ["10.0.0.7"]);
    mx.dns.failing.add("mx.example.net");
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("4.4.3");
    mx.dns.failing.clear();
    expect(await mx.end(message, 300_000)).toBe("delivered");
  });
});
