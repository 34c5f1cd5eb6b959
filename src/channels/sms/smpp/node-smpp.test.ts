/** Against an SMSC that others wrote: the npm package `smpp`, with its own codec. */

import { afterEach, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
// @ts-expect-error The package brings no types.
import smpp from "smpp";
import { channelDeps } from "../../../../test/fakes/channel-deps.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import { openSmppChannel } from "./smpp-channel.ts";

type Pdu = Record<string, unknown> & { response(fields?: Record<string, unknown>): unknown };
interface PeerSession {
  on(event: string, listener: (pdu: Pdu) => void): void;
  send(pdu: unknown): void;
  close(): void;
  deliver_sm(fields: Record<string, unknown>, onResponse: (pdu: Pdu) => void): void;
}

// India's parameters are not among the package's own.
smpp.addTLV("dlt_entity_id", { id: 0x1400, type: smpp.types.tlv.string });
smpp.addTLV("dlt_template_id", { id: 0x1401, type: smpp.types.tlv.string });

// And these an operator's own.
smpp.addTLV("partner", { id: 0x1503, type: smpp.types.tlv.string });
smpp.addTLV("partner_octets", { id: 0x1504, type: smpp.types.tlv.buffer });

let close = async () => {};
afterEach(() => close());

async function openPair(settings: Record<string, unknown> = {}) {
  const submits: Pdu[] = [];
  const receipts: Receipt[] = [];
  const stored = Promise.withResolvers<void>();
  const bound = Promise.withResolvers<{ pdu: Pdu; session: PeerSession }>();
  const up = Promise.withResolvers<void>();
  const server = smpp.createServer((session: PeerSession) => {
    session.on("error", () => {});
    session.on("bind_transceiver", (pdu) => {
      session.send(pdu.response({ system_id: "witness" }));
      bound.resolve({ pdu, session });
    });
    session.on("submit_sm", (pdu) => {
      submits.push(pdu);
      session.send(pdu.response({ message_id: `id-${submits.length}` }));
    });
    session.on("unbind", (pdu) => session.send(pdu.response()));
    session.on("enquire_link", (pdu) => session.send(pdu.response()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = { host: "127.0.0.1", port, system_id: "rider", system_type: "VMA", ...settings };
  const channel = openSmppChannel(
    {
      id: "c1",
      name: "witness",
      kind: "smpp",
      config,
      secrets: { password: "a-long-password" },
      isEnabled: true,
      createdAt: 0,
    },
    channelDeps({
      random: () => 0,
      onStatus({ state }) {
        if (state === "up") up.resolve();
      },
      async onReceipts(batch) {
        receipts.push(...batch);
        stored.resolve();
      },
    }),
  );
  channel.start();
  await up.promise;
  close = async () => {
    await channel.stop();
    server.close();
  };
  const send = (text: string) =>
    channel.send(
      {
        channel: "sms",
        messageId: "0198f7c2-1111-7000-8000-000000000001",
        claim: 1,
        flow: 0,
        accountId: "a1",
        parts: [],
        remainingMs: 600_000,
        createdAt: 0,
        to: "+919876543210",
        from: "PSTRDR",
        text,
        content: { channel: "sms", dltEntityId: "1101", dltTemplateId: "1107" },
      },
      new AbortController().signal,
    );
  return { send, submits, receipts, stored: stored.promise, ...(await bound.promise) };
}

test("node-smpp understands our bind", async () => {
  const { pdu } = await openPair();
  expect(pdu).toMatchObject({
    system_id: "rider",
    password: "a-long-password",
    system_type: "VMA",
    interface_version: 0x34,
  });
});

test("node-smpp sees version 3.3 where the SMSC speaks no other", async () => {
  const { pdu } = await openPair({ interface_version: "3.3" });
  expect(pdu).toMatchObject({ system_type: "VMA", interface_version: 0x33, addr_ton: 0, address_range: "" });
});

test("node-smpp reads from our submit_sm what we put there", async () => {
  const { send, submits } = await openPair();
  expect(await send("Plain {text} for 5€")).toMatchObject({
    parts: [{ kind: "sent", providerMessageIds: ["id-1"] }],
  });
  expect(submits[0]).toMatchObject({
    source_addr_ton: 5,
    source_addr_npi: 0,
    source_addr: "PSTRDR",
    service_type: "",
    priority_flag: 0,
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: "919876543210",
    esm_class: 0,
    data_coding: 0,
    registered_delivery: 1,
    dlt_entity_id: "1101",
    dlt_template_id: "1107",
  });
  // It reads the relative time as a date, by its own clock.
  const validMs = (submits[0]!.validity_period as Date).getTime() - Date.now();
  expect(Math.round(validMs / 60_000)).toBe(10);
});

test("node-smpp reads the connector's service_type and priority_flag from each segment", async () => {
  const { send, submits } = await openPair({ service_type: "OTP01", priority_flag: 2 });
  await send("Приве́т! ".repeat(20));
  expect(submits).toHaveLength(3);
  for (const submit of submits) expect(submit).toMatchObject({ service_type: "OTP01", priority_flag: 2 });
});

test("node-smpp reads the connector's further TLVs from each segment, beside the DLT ids", async () => {
  const extra_tlvs = [
    { tag: 0x1503, text: "ACME" },
    { tag: 0x0005, integer: 2, octets: 1 },
    { tag: 0x020a, integer: 0x1f90, octets: 2 },
    { tag: 0x1504, hex: "0aFF00" },
  ];
  const { send, submits } = await openPair({ extra_tlvs });
  await send("Приве́т! ".repeat(20));
  expect(submits).toHaveLength(3);
  for (const submit of submits)
    expect(submit).toMatchObject({
      dlt_entity_id: "1101",
      partner: "ACME",
      dest_addr_subunit: 2,
      source_port: 0x1f90,
      partner_octets: Buffer.from("0aff00", "hex"),
    });
});

test("node-smpp decodes a UCS-2 text to what was sent", async () => {
  const { send, submits } = await openPair();
  await send("आपका कोड 4711 है 😀");
  expect(submits[0]).toMatchObject({ data_coding: 8, short_message: { message: "आपका कोड 4711 है 😀" } });
});

test("node-smpp finds the header of each segment, and the texts join", async () => {
  const { send, submits } = await openPair();
  const text = "Приве́т! ".repeat(20);
  const outcome = await send(text);
  expect(outcome.parts.length).toBe(3);
  const messages = submits.map((pdu) => pdu.short_message as { udh: Buffer[]; message: string });
  expect(messages.map(({ message }) => message).join("")).toBe(text);
  expect(messages.map(({ udh }) => Buffer.from(udh[0]!).toString("hex").slice(-4))).toEqual([
    "0301",
    "0302",
    "0303",
  ]);
});

test("node-smpp gets its receipt acknowledged, and we read the receipt", async () => {
  const { session, receipts, stored } = await openPair();
  const response = new Promise<Pdu>((resolve) =>
    session.deliver_sm(
      {
        esm_class: 4,
        source_addr: "919876543210",
        destination_addr: "PSTRDR",
        short_message:
          "id:id-1 sub:001 dlvrd:000 submit date:2601151200 done date:2601151201 stat:UNDELIV err:001 text:Hi",
        receipted_message_id: "id-1",
        message_state: 5,
      },
      resolve,
    ),
  );
  await stored;
  expect(receipts[0]).toMatchObject({ providerMessageId: "id-1", status: "undelivered" });
  expect(await response).toMatchObject({ command_status: 0 });
});
