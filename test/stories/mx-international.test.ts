/** Addresses in every script, to mail hosts that know them and to ones that do not. */
import { afterEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmtp, type RawSmtp, startFakeSmtp, startRawSmtp } from "../fakes/fake-smtp.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";

onBothStores(() => {
  let smtp: FakeSmtp | RawSmtp;
  let mx: LiveMx;

  async function sendTo<T extends FakeSmtp | RawSmtp>(server: T): Promise<T> {
    smtp = server;
    mx = await startLiveMx(server.port);
    mx.dns.mx.set("xn--bcher-kva.example", ["10 mx.example.net"]);
    return server;
  }

  afterEach(async () => {
    await smtp.close();
    await mx.close();
  });

  test("an international address is delivered to a host with SMTPUTF8", async () => {
    const server = await sendTo(await startFakeSmtp());
    expect(await mx.end(await mx.send("jürgen@bücher.example"))).toBe("delivered");
    expect((await server.mail(0)).to).toEqual(["jürgen@bücher.example"]);
  });

  test("without SMTPUTF8 it is refused at once and not disguised; a domain alone goes in its ASCII form", async () => {
    const server = await sendTo(await startRawSmtp(() => undefined));
    expect(await mx.end(await mx.send("jürgen@bücher.example"))).toBe("failed");
    expect(await mx.end(await mx.send("ann@bücher.example"))).toBe("delivered");
    const recipients = server.lines.filter((line) => line.startsWith("RCPT"));
    expect(recipients).toEqual(["RCPT TO:<ann@xn--bcher-kva.example>"]);
  });

  test("a domain that begins with xn-- and is no international name is delivered to its own host", async () => {
    const server = await sendTo(await startRawSmtp(() => undefined));
    mx.dns.mx.set("xn--zzzz.example", ["10 mx.example.net"]);
    expect(await mx.end(await mx.send("ann@xn--zzzz.example"))).toBe("delivered");
    expect(server.lines).toContain("RCPT TO:<ann@xn--zzzz.example>");
  });
});
