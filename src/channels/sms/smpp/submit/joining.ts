/** What all segments of a message must have in common, so that handsets join them: in words that are kept with each segment that was sent. */
import type { OutgoingSms } from "../../../channel.ts";
import { isToBeSent } from "../../../is-to-be-sent.ts";
import type { SmppConfig } from "../smpp-config.ts";
import type { Address } from "../wire/pdu.ts";
import { joiningStyles } from "./multipart.ts";

interface Sent {
  readonly source: Address;
  readonly dataCoding: number;
}

/** `Part.joinedBy`, for example `udh8 gsm7 0 5/0 ACMECO`: the style, the alphabet, data_coding, and the sender with its TON and NPI. */
export function toJoining({ concat, default_alphabet }: SmppConfig, { source, dataCoding }: Sent): string {
  return `${concat} ${default_alphabet} ${dataCoding} ${source.ton}/${source.npi} ${source.address}`;
}

const JOINING =
  /^(?<style>\w+)(?: (?<alphabet>gsm7|ascii|latin1) (?<coding>\d+) (?<ton>\d+)\/(?<npi>\d+) (?<address>.*))?$/;

/** How the segments that do not go out now were sent. Of those that do, it does not matter how they were before. */
export function joinedBefore(message: OutgoingSms): readonly string[] {
  return message.parts.flatMap(({ joinedBy }, index) =>
    joinedBy === undefined || isToBeSent(message, index) ? [] : [joinedBy],
  );
}

/** The settings by which further segments go out as those that were sent, whatever was changed meanwhile. */
export function asBegun(message: OutgoingSms, config: SmppConfig): SmppConfig {
  const [before] = joinedBefore(message);
  const begun = before === undefined ? undefined : JOINING.exec(before)?.groups;
  const concat = joiningStyles(config).find((style) => style === begun?.style);
  if (!begun || concat === undefined) return config;
  // Words of an earlier version: they have the style only.
  if (begun.alphabet === undefined) return { ...config, concat };
  const dataCoding = Number(begun.coding);
  return {
    ...config,
    concat,
    default_alphabet: begun.alphabet as SmppConfig["default_alphabet"],
    // The text is in one of the two, as it was.
    default_data_coding: dataCoding,
    ucs2_data_coding: dataCoding,
    source_addr: begun.address ?? "",
    source_ton: Number(begun.ton),
    source_npi: Number(begun.npi),
  };
}

/** The data_coding of the segments that were sent; `undefined`: none were, or it was not kept. */
export function codingBegun(message: OutgoingSms): number | undefined {
  const [before] = joinedBefore(message);
  const coding = before === undefined ? undefined : JOINING.exec(before)?.groups?.coding;
  return coding === undefined ? undefined : Number(coding);
}

/** How the segments are put together, without the rest of the words. */
export function styleOf(joinedBy: string): string {
  return joinedBy.split(" ", 1)[0] ?? "";
}
