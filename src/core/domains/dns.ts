/** DNS as an argument. It answers and rejects (`code`: ENOTFOUND, ENODATA, ETIMEOUT …) as `node:dns/promises` does. */
export interface Dns {
  /** Each record as the strings that it consists of. */
  resolveTxt(name: string): Promise<readonly (readonly string[])[]>;
  resolveMx(name: string): Promise<readonly MxRecord[]>;
  resolveCname(name: string): Promise<readonly string[]>;
  resolve4(name: string): Promise<readonly string[]>;
  resolve6(name: string): Promise<readonly string[]>;
}

export interface MxRecord {
  /** Empty: a null MX (RFC 7505). */
  readonly exchange: string;
  /** Lower comes first. */
  readonly priority: number;
}

/** True if DNS answered that there is no such record; false if there was no answer. */
export function isNoRecord(error: unknown): boolean {
  return ["ENOTFOUND", "ENODATA"].includes(dnsCode(error));
}

export function dnsCode(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "no answer");
}
