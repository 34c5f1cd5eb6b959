/** What an attempt at a message to several domains says of itself. */
import { afterEach, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { startFakeSmtp, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A host at 127.0.0.2, on this port, without TLS. */
async function openClearHost(port: number): Promise<void> {
  const smtp = await startFakeSmtp();
  closing.push(smtp.close);
  const server = createServer((socket) => {
    const onward = connect(smtp.port, smtp.host);
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.2", resolve));
  closing.push(() => server.close());
}

const SIGNAL = new AbortController().signal;

test("an attempt was over TLS if it was to every domain that was reached, and says nothing where none was", async () => {
  const secure = await startFakeSmtp({ tls: "starttls" });
  closing.push(secure.close);
  await openClearHost(secure.port);
  const rig = await openMxRig({ port: secure.port });
  closing.push(rig.close);
  rig.host("secure.test", "mx.secure.test");
  rig.host("clear.test", "mx.clear.test", "127.0.0.2");
  rig.host("down.test", "mx.down.test", "127.0.0.3");
  const tlsTo = async (...domains: readonly string[]) => {
    const to = domains.map((domain) => ({ email: `ann@${domain}` }));
    const { detail } = await rig.channel.send(outgoingEmail({ to }), SIGNAL);
    return detail?.tls;
  };
  expect(await tlsTo("secure.test", "down.test")).toBe(true);
  expect(await tlsTo("secure.test", "clear.test")).toBe(false);
  expect(await tlsTo("clear.test")).toBe(false);
  expect(await tlsTo("down.test")).toBeUndefined();
});

test("an attempt names the hosts that were asked, in this order: what the first one puts off is offered to the next", async () => {
  const last = await startFakeSmtp();
  closing.push(last.close);
  const full = await startRawSmtp(
    (verb) => (verb === "MAIL" ? "452 4.3.1 full" : undefined),
    last.port,
    "127.0.0.2",
  );
  closing.push(full.close);
  const rig = await openMxRig({ port: last.port });
  closing.push(rig.close);
  rig.host("one.test", "mx.one.test");
  rig.dns.mx.set("two.test", ["10 down.two.test", "20 full.two.test", "30 mx.one.test"]);
  rig.dns.a.set("down.two.test", ["127.0.0.3"]);
  rig.dns.a.set("full.two.test", ["127.0.0.2"]);
  const hostsOf = async (...to: readonly string[]) => {
    const email = outgoingEmail({ to: to.map((address) => ({ email: address })) });
    return (await rig.channel.send(email, SIGNAL)).detail?.hosts;
  };
  expect(await hostsOf("ann@two.test")).toEqual(["full.two.test", "mx.one.test"]);
  expect(await hostsOf("ann@one.test", "bob@two.test")).toEqual(["mx.one.test", "full.two.test"]);
  rig.host("two.test", "down.two.test", "127.0.0.3");
  expect(await hostsOf("ann@two.test")).toBeUndefined();
});

test("of very many hosts an attempt names ten, and tells how many more there were", async () => {
  const smtp = await startFakeSmtp();
  closing.push(smtp.close);
  const rig = await openMxRig({ port: smtp.port });
  closing.push(rig.close);
  const domains = Array.from({ length: 12 }, (_, index) => `d${index}.test`);
  for (const domain of domains) rig.host(domain, `mx.${domain}`);
  const to = domains.map((domain) => ({ email: `ann@${domain}` }));
  const { detail } = await rig.channel.send(outgoingEmail({ to }), SIGNAL);
  expect(detail).toMatchObject({
    hosts: domains.slice(0, 10).map((domain) => `mx.${domain}`),
    more_hosts: 2,
  });
});
