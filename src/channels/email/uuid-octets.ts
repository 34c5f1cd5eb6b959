/** The 16 octets of a UUID. */
export function toUuidOctets(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** In lower case. */
export function toUuid(octets: Buffer): string {
  return octets.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
