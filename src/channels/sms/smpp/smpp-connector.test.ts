import { afterEach, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import {
  closeSmppRigs,
  openBoundSmppRig,
  openSmppRig,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import type { ChannelDeps } from "../../channel.ts";
import { smppConnectorKind } from "./smpp-connector.ts";

afterEach(closeSmppRigs);

test("over TLS a message is sent, and a certificate of an unknown authority is refused", async () => {
  const trusting = await openBoundSmppRig({ tls: true, config: { tls: true, tls_ca: testTls.ca } });
  expect(await sendThrough(trusting.channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  const wary = await openSmppRig({ tls: true, config: { tls: true } });
  wary.channel.start();
  await wary.state("down");
  // What to do is told wherever the state is: in the log, in `connectors show`, in the alarm.
  expect(wary.channel.status().reason).toContain(
    "; set `tls_ca` to the certificate (PEM) of the authority that signed it",
  );
  expect(wary.smsc.binds).toHaveLength(0);
  const misnamed = await openSmppRig({
    tls: true,
    config: { tls: true, tls_ca: testTls.ca, tls_server_name: "smsc.example" },
  });
  misnamed.channel.start();
  await misnamed.state("down");
  expect(misnamed.channel.status().reason).toEndWith(
    "; `tls_server_name` must be one that the certificate is for",
  );
  expect(misnamed.smsc.binds).toHaveLength(0);
});

test("a certificate setting that is no certificate takes the connector down, not the process", async () => {
  const { channel, state, connector, clock } = await openSmppRig({
    tls: true,
    config: { tls: true, tls_ca: "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----" },
  });
  channel.start();
  await state("down");
  expect(channel.status().reason).toBeString();
  expect(await smppConnectorKind.check(connector, clock)).toEqual({ ok: false, detail: "Invalid CA" });
  // Past the time a check may take: of this one nothing is left that could throw.
  await clock.advance(15_000);
});

test("an address is no name for a certificate, and is refused", () => {
  const problems = (name: string) =>
    smppConnectorKind.problems?.({ config: { host: "smsc.example", tls_server_name: name }, secrets: {} });
  const refused = { tls_server_name: expect.stringContaining("must be a name") };
  for (const name of ["192.0.2.1", "::1", "fe80::1%eth0"]) expect(problems(name)).toEqual(refused);
  expect(problems("smsc.example")).toEqual({});
});

test("a host is a name or an address alone, and an IPv6 address may have its brackets", () => {
  const problems = (host: string) => smppConnectorKind.problems?.({ config: { host }, secrets: {} });
  const refused = { host: expect.stringContaining("must be a name or an address alone") };
  for (const host of [
    "smsc.example:2775",
    "[::1]:2775",
    "ssl://smsc.example",
    " ::1",
    "smsc.example/x",
    "1::2::3",
  ])
    expect(problems(host)).toEqual(refused);
  for (const host of [
    "smsc.example",
    "smsc_1",
    "192.0.2.1",
    "::1",
    "[::1]",
    "fe80::1%eth0",
    "[fe80::1%eth0]",
  ])
    expect(problems(host)).toEqual({});
});

const CI = Boolean(process.env.CI);
const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ family }) => family === "IPv6"),
);
const testIpv6 = test.skipIf(!hasIpv6 && !CI); // skipped: no IPv6 here

testIpv6("an SMSC is reached at an IPv6 address, with brackets or without", async () => {
  for (const host of ["::1", "[::1]"]) {
    const { channel } = await openBoundSmppRig({ host: "::1", config: { host } });
    expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  }
});

test("a check binds and unbinds, or says why it cannot", async () => {
  const { smsc, clock, connector } = await openSmppRig();
  expect(await smppConnectorKind.check(connector, clock)).toEqual({
    ok: true,
    detail: "bound as rider, and unbound",
  });
  smsc.dial.bindStatus = 0x0e;
  expect(await smppConnectorKind.check(connector, clock)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("PASWD"),
  });
  smsc.dial.ignoreBind = true;
  const checking = smppConnectorKind.check(connector, clock);
  await smsc.until(() => smsc.binds.length === 3);
  await clock.advance(15_000);
  expect(await checking).toMatchObject({ ok: false });
  const broken = { ...connector, config: { ...connector.config, port: 70_000 } };
  expect(await smppConnectorKind.check(broken, clock)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("/port"),
  });
  expect(() => smppConnectorKind.open(broken, {} as ChannelDeps)).toThrow("/port");
});
