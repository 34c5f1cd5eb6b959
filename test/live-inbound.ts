/** Handsets that write to a live account's number over an SMSC, and what the account receives. */
import { TAG } from "../src/channels/sms/smpp/wire/pdu.ts";
import { admin, type Peer } from "./admin.ts";
import type { FakeSmsc } from "./fakes/fake-smsc.ts";

export const HANDSET = "+14155550199";
export const NUMBER = "+14155550123";

export interface ShownInbound {
  readonly message_id: string;
  readonly from: string;
  readonly text: string;
  readonly segments: number;
  readonly partial?: true;
}

/** Gives the number to the account. */
export async function ownNumber(service: Peer, accountId: string): Promise<void> {
  await admin(service, "/inbound-numbers", { account_id: accountId, number: NUMBER });
}

const ADDRESSES = {
  source: { ton: 1, npi: 1, address: HANDSET.slice(1) },
  destination: { ton: 1, npi: 1, address: NUMBER.slice(1) },
};

/** Writes one short message; resolves with the status of its deliver_sm_resp. */
export function write(smsc: FakeSmsc, text: string): Promise<number> {
  return smsc.deliver({ ...ADDRESSES, shortMessage: Buffer.from(text, "latin1") });
}

/** Writes one part of a long one in UCS-2, its place in an 8-bit header unless told otherwise. */
export function writePart(
  smsc: FakeSmsc,
  text: string,
  place: readonly [reference: number, total: number, number: number],
  joined: "udh8" | "udh16" | "sar" = "udh8",
): Promise<number> {
  const { header = [], ...rest } = JOINED[joined](...place);
  const shortMessage = Buffer.concat([Buffer.from(header), Buffer.from(text, "utf16le").swap16()]);
  return smsc.deliver({ ...ADDRESSES, ...rest, dataCoding: 8, shortMessage });
}

interface Place {
  readonly header?: readonly number[];
  readonly esmClass?: number;
  readonly tlvs?: ReadonlyMap<number, Uint8Array>;
}

const JOINED: Readonly<
  Record<"udh8" | "udh16" | "sar", (reference: number, total: number, number: number) => Place>
> = {
  udh8: (...place) => ({ esmClass: 0x40, header: [5, 0, 3, ...place] }),
  udh16: (...place) => ({ esmClass: 0x40, header: [6, 8, 4, 0, ...place] }),
  sar: (reference, total, number) => ({
    tlvs: new Map([
      [TAG.sarReference, Uint8Array.of(0, reference)],
      [TAG.sarTotal, Uint8Array.of(total)],
      [TAG.sarNumber, Uint8Array.of(number)],
    ]),
  }),
};

/** What the account lists, newest first. */
export async function inbound(service: Peer, apiKey: string): Promise<readonly ShownInbound[]> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${service.url}/v1/sms/inbound`, { headers });
  return ((await response.json()) as { data: ShownInbound[] }).data;
}
