import { createHash } from "node:crypto";
import { isIndian } from "../../../../core/sms/phone-number.ts";
import { sentDltIds } from "../../../../core/sms/sent-dlt-ids.ts";
import type { OutgoingSms } from "../../../channel.ts";
import type { SmppConfig } from "../smpp-config.ts";
import type { Tlvs } from "../wire/octets.ts";

/**
 * The message's DLT ids, and the hash of its chain, as TLVs (India, TCCCPR 2018); `undefined` if an id cannot be written. Empty
 * for a number of another country: the tags are vendor-specific, and other SMSCs use them for other purposes.
 */
export function dltTlvs({ to, content }: OutgoingSms, config: SmppConfig): Tlvs | undefined {
  if (!isIndian(to)) return new Map();
  const { dltEntityId: entityId, dltTemplateId: templateId } = sentDltIds(content);
  const ids: [number, string | undefined][] = [
    [config.dlt_entity_tag, entityId],
    [config.dlt_template_tag, templateId],
  ];
  if (config.dlt_order === "template_first") ids.reverse();
  if (entityId || templateId) ids.push([config.dlt_chain_tag, chainHash(config.dlt_chain_ids, entityId)]);
  const tlvs = new Map<number, Uint8Array>();
  for (const [tag, id] of ids) {
    if (!id) continue;
    if (!/^[\x21-\x7e]{1,64}$/.test(id)) return undefined;
    tlvs.set(tag, Buffer.from(config.dlt_nul_terminated ? `${id}\0` : id, "latin1"));
  }
  return tlvs;
}

/**
 * SHA-256, in lower-case hexadecimal, of the chain's ids joined by commas: entity, aggregators, delivery telemarketer (the
 * operators' manual on header binding). `undefined` if no chain is configured, or if the chain has a place for the message's
 * entity and the message has none.
 */
export function chainHash(chain: readonly string[], entityId: string | undefined): string | undefined {
  const ids = chain.map((id) => (id === "entity" ? entityId : id));
  if (ids.length === 0 || ids.includes(undefined)) return undefined;
  return createHash("sha256").update(ids.join(",")).digest("hex");
}
