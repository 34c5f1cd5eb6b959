/** Settings that change while sessions are open: most hold from the next message on, and the others ask for new sessions. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  openSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";
import type { ReceivedSms } from "../../../core/inbound/inbound.ts";
import { smppConfigSchema } from "./smpp-config.ts";

afterEach(closeSmppRigs);

type Rig = Awaited<ReturnType<typeof openBoundSmppRig>>;

/** Whether the channel goes on with the change. */
function change(
  { channel, connector }: Rig,
  config: Record<string, unknown>,
  secrets = {},
): boolean | undefined {
  const changed = {
    config: { ...connector.config, ...config },
    secrets: { ...connector.secrets, ...secrets },
  };
  return channel.applySettings?.({ ...connector, ...changed });
}

const GOES_ON: Readonly<Record<string, unknown>> = {
  window: 3,
  source_addr: "ACME",
  source_ton: 5,
  source_npi: 1,
  dest_ton: 0,
  dest_npi: 0,
  dest_plus: true,
  inbound_country_code: "1",
  concat: "sar",
  default_alphabet: "latin1",
  default_data_coding: 3,
  ucs2_data_coding: 24,
  user_message_reference: true,
  query_sm: true,
  registered_delivery: 0,
  validity_period: false,
  service_type: "OTP",
  priority_flag: 2,
  id_format: "resp_hex_receipt_dec",
  receipts_by_text: true,
  receipts_with: ["01a1fe47-d900-7336-aaba-2350b1b7f3a7"],
  dlt_entity_tag: 0x1500,
  dlt_template_tag: 0x1501,
  dlt_chain_tag: 0x1502,
  dlt_chain_ids: ["entity"],
  dlt_order: "template_first",
  dlt_codes: { "5308": "633" },
  dlt_nul_terminated: true,
  extra_tlvs: [{ tag: 5123, text: "ACME" }],
  max_per_second: 7,
  status_classes: { "0x00000401": "transient" },
};

const ASKS_FOR_SESSIONS: Readonly<Record<string, unknown>> = {
  host: "localhost",
  port: 2776,
  system_id: "other",
  bind: "transmitter_receiver",
  binds: 2,
  system_type: "VMA",
  interface_version: "3.3",
  address_range: "^56",
  tls: false,
  tls_verify: false,
  tls_ca: "PEM",
  tls_server_name: "smsc.example",
  local_address: "127.0.0.1",
  response_timeout_ms: 5_000,
  enquire_link_ms: 5_000,
  max_per_second_per_sender: 5,
};

test("for every setting it is decided whether sessions go on with a change of it", () => {
  const decided = [...Object.keys(GOES_ON), ...Object.keys(ASKS_FOR_SESSIONS)];
  expect(decided.toSorted()).toEqual(Object.keys(smppConfigSchema.properties).toSorted());
});

/** Not started: whether a change is taken does not depend on sessions. */
const openOverTls = () => openSmppRig({ config: { tls: true } });

test.each(Object.entries(GOES_ON))("sessions go on with another %s", async (name, value) => {
  expect(change(await openOverTls(), { [name]: value })).toBe(true);
});

test.each(Object.entries(ASKS_FOR_SESSIONS))("another %s asks for new sessions", async (name, value) => {
  expect(change(await openOverTls(), { [name]: value })).toBe(false);
});

test("another password asks for new sessions, and so does what cannot be read", async () => {
  const rig = await openOverTls();
  expect(change(rig, {}, { password: "other" })).toBe(false);
  expect(change(rig, { priority_flag: "high" })).toBe(false);
});

test("messages after a change go out by it over the same session, and those before as they began", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const { channel, smsc } = rig;
  const before = sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
  await smsc.until(() => smsc.submits.length === 2);
  change(rig, {
    source_ton: 3,
    dest_plus: true,
    extra_tlvs: [{ tag: 5123, text: "ACME" }],
    status_classes: { "0x00000401": "transient" },
  });
  smsc.dial.submitStatus = ({ tlvs }) => (tlvs.has(5123) ? 0x401 : 0);
  smsc.release();
  expect((await before).parts.map((part) => part?.kind)).toEqual(["sent", "sent"]);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }] });
  const seen = smsc.submits.map(({ source, destination, tlvs }) => [
    source.ton,
    destination.address,
    Buffer.from(tlvs.get(5123) ?? []).toString("latin1"),
  ]);
  expect(seen).toEqual([
    [5, "919876543210", ""],
    [5, "919876543210", ""],
    [3, "+919876543210", "ACME"],
  ]);
  expect([smsc.binds.length, smsc.connections(), channel.status().state]).toEqual([1, 1, "up"]);
});

test("the rest of a long message goes out as it began, from the sender that its first segments had", async () => {
  const statuses = [0, 0x14];
  const rig = await openBoundSmppRig({
    dial: { submitStatus: () => statuses.shift() },
    config: { source_addr: "ACME" },
  });
  const { channel, smsc } = rig;
  const { from: _, ...message } = outgoingSms({ text: `€${LONG_TEXT}` });
  expect((await sendThrough(channel, message)).parts.map((part) => part?.kind)).toEqual(["sent", "deferred"]);
  change(rig, { source_addr: "OTHER", source_ton: 3, default_alphabet: "latin1", concat: "udh16" });
  await sendThrough(channel, { ...message, parts: [{ status: "sent" }, { status: "pending" }] });
  await sendThrough(channel, { ...message, parts: [{ status: "pending" }, { status: "pending" }] });
  const seen = smsc.submits.map(({ source, shortMessage }) => [source.ton, source.address, shortMessage[0]]);
  expect(seen).toEqual([
    [5, "ACME", 5],
    [5, "ACME", 5],
    [5, "ACME", 5],
    // As a whole it begins anew; in UCS-2, since Latin-1 has no euro sign.
    [3, "OTHER", 6],
    [3, "OTHER", 6],
    [3, "OTHER", 6],
  ]);
});

test("a wider window takes what waits for it at once, and a narrower one nothing until enough is answered", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { window: 1 } });
  const { channel, smsc } = rig;
  const sending = [sendThrough(channel), sendThrough(channel)];
  await smsc.until(() => smsc.submits.length === 1);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(1);
  change(rig, { window: 3 });
  await smsc.until(() => smsc.submits.length === 2);
  expect(channel.freeSlots()).toBe(1);
  change(rig, { window: 1 });
  expect(channel.freeSlots()).toBe(0);
  smsc.release();
  await Promise.all(sending);
  expect(channel.freeSlots()).toBe(1);
});

test("another rate holds at once for what waits for the old one", async () => {
  const rig = await openBoundSmppRig({ config: { max_per_second: 0.1 } });
  const { channel, smsc, clock } = rig;
  const sending = [sendThrough(channel), sendThrough(channel)];
  await smsc.until(() => smsc.submits.length === 1);
  await clock.advance(1_000);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(1);
  change(rig, { max_per_second: 10 });
  await clock.advance(200);
  await smsc.until(() => smsc.submits.length === 2);
  expect(channel.status().rate).toEqual({ perSecond: 10, isReduced: false });
  await Promise.all(sending);
});

test("what the SMSC delivers is read by the new settings on the session that was open before", async () => {
  const received: ReceivedSms[] = [];
  const rig = await openBoundSmppRig({
    dial: { receipts: "none", ids: "hex, receipt decimal" },
    deps: { onInbound: async (messages) => void received.push(...messages) },
  });
  const { channel, smsc, receipts } = rig;
  change(rig, { id_format: "resp_hex_receipt_dec", inbound_country_code: "1", default_alphabet: "latin1" });
  const { parts } = await sendThrough(channel);
  await smsc.sendReceipt(smsc.submits[0]!);
  expect(parts[0]).toMatchObject({
    providerMessageIds: expect.arrayContaining([receipts[0]!.providerMessageId]),
  });
  await smsc.deliver({
    source: { ton: 2, npi: 1, address: "4155550199" },
    destination: { ton: 1, npi: 1, address: "14155550123" },
    shortMessage: Buffer.from("[é]", "latin1"),
  });
  expect(received).toMatchObject([{ from: "+14155550199", text: "[é]" }]);
});

test("the SMSC is asked about missing receipts from when it may be", async () => {
  const rig = await openBoundSmppRig();
  expect(rig.channel.query).toBeUndefined();
  change(rig, { query_sm: true });
  rig.smsc.dial.queryState = () => [2, 0];
  const signal = new AbortController().signal;
  expect(await rig.channel.query?.([{ providerMessageId: "A1B2C3D4" }], signal)).toHaveLength(1);
});
