import { parseEmailAddress } from "../../../core/email/email-address.ts";

/** What is wrong with a text that names no domain. */
export const NOT_A_DOMAIN = "must be a domain, for example example.com";

/** @param name in lower case */
export function isDomain(name: string): boolean {
  // `canParse` fails for names without an ASCII form: those cannot be in the DNS.
  return URL.canParse(`http://${name}`) && (parseEmailAddress(`a@${name}`)?.endsWith(`@${name}`) ?? false);
}
