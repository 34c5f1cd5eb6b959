/** TLS to strangers' hosts: whatever certificate they have, unless their domain promises better (MTA-STS, RFC 8461). */
import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmtp, type FakeSmtpOptions, startFakeSmtp } from "../fakes/fake-smtp.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { mailTls } from "../fakes/mail-tls.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";

onBothStores(() => {
  let smtp: FakeSmtp;
  let mx: LiveMx;
  let web: Server;
  let policy: { status: number; text: string; location?: string; type?: string };
  let asked: number;

  afterEach(async () => {
    await smtp.close();
    await mx.close();
    await new Promise((resolve) => web.close(resolve));
  });

  async function start(options: FakeSmtpOptions): Promise<void> {
    asked = 0;
    web = createServer({ key: mailTls.key, cert: mailTls.cert }, (_, response) => {
      asked++;
      const { status, location, type } = policy;
      response.writeHead(status, { ...(location && { location }), ...(type && { "content-type": type }) });
      response.end(policy.text);
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    smtp = await startFakeSmtp(options);
    mx = await startLiveMx(smtp.port, { mta_sts_port: (web.address() as AddressInfo).port });
  }

  /** Gives `example.net` a policy. */
  function publish(mode: string, pattern = "*.example.net", id = "1"): void {
    const text = `version: STSv1\r\nmode: ${mode}\r\nmx: ${pattern}\r\nmax_age: 86400\r\n`;
    policy = { status: 200, text };
    mx.dns.txt.set("_mta-sts.example.net", `v=STSv1; id=${id};`);
    mx.dns.a.set("mta-sts.example.net", ["127.0.0.1"]);
  }

  test("without a policy a message goes over TLS with whatever certificate the host shows", async () => {
    await start({ tls: "starttls" });
    expect(await mx.end(await mx.send("ann"))).toBe("delivered");
    expect((await smtp.mail(0)).isSecure).toBe(true);
  });

  test("a policy that is enforced lets a host pass that proves its name", async () => {
    await start({ tls: "starttls", certificate: mailTls });
    publish("enforce");
    expect(await mx.end(await mx.send("ann"))).toBe("delivered");
    expect((await smtp.mail(0)).isSecure).toBe(true);
    expect(asked).toBe(1);
  });

  test("under an enforced policy a host with a bad certificate gets nothing until it has a good one", async () => {
    const port = await keptPort();
    await start({ tls: "starttls", port });
    publish("enforce");
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("4.7.5");
    await smtp.close();
    expect(smtp.received).toHaveLength(0);
    smtp = await startFakeSmtp({ tls: "starttls", certificate: mailTls, port });
    expect(await mx.end(message, 900_000)).toBe("delivered");
  });

  test("under an enforced policy a host without TLS gets nothing, and neither does one the policy does not name", async () => {
    await start({});
    publish("enforce");
    expect(await mx.firstError(await mx.send("ann"))).toBe("4.7.5");
    publish("enforce", "other.example.net", "2");
    mx.postrider.leap(300_000);
    expect(await mx.firstError(await mx.send("bob"))).toBe("4.7.5");
    expect(smtp.received).toHaveLength(0);
  });

  test("a policy that is only tested stops nothing", async () => {
    await start({});
    publish("testing", "other.example.net");
    expect(await mx.end(await mx.send("ann"))).toBe("delivered");
    expect(
      mx.postrider.logged.some(({ msg }) => String(msg).includes("MTA-STS policy, which is being tested")),
    ).toBe(true);
  });

  test("a policy is kept: it holds though its record and its file are gone, and is not fetched again", async () => {
    await start({ tls: "starttls" });
    publish("enforce");
    expect(await mx.firstError(await mx.send("ann"))).toBe("4.7.5");
    mx.dns.txt.delete("_mta-sts.example.net");
    policy = { status: 404, text: "" };
    mx.postrider.leap(3_600_000);
    expect(await mx.firstError(await mx.send("bob"))).toBe("4.7.5");
    expect(asked).toBe(1);
  });

  test.each([
    ["text/plain; charset=utf-8", "4.7.5"],
    ["Text/Plain", "4.7.5"],
    ["text/html", undefined],
    ["text/plain-looking", undefined],
  ])("a policy file counts only as plain text: %s", async (type, code) => {
    await start({});
    publish("enforce");
    policy.type = type;
    const message = await mx.send("ann");
    if (code !== undefined) expect(await mx.firstError(message)).toBe(code);
    else expect(await mx.end(message)).toBe("delivered");
    expect(asked).toBe(1);
  });

  test("a policy behind a redirect, or that is none, is no policy", async () => {
    await start({});
    publish("enforce");
    policy = { status: 302, text: "", location: "https://mta-sts.example.net/elsewhere" };
    expect(await mx.end(await mx.send("ann"))).toBe("delivered");
    policy = { status: 200, text: `version: STSv1\nmode: enforce\n${"#".repeat(100_000)}` };
    mx.postrider.leap(300_000);
    expect(await mx.end(await mx.send("bob"))).toBe("delivered");
    expect(asked).toBe(2);
  });
});
