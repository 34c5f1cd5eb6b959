import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/clock.ts";
import { errorText } from "../../core/error-text.ts";
import type { Config } from "../config.ts";
import { isSameTls, readTlsFiles, type Tls, tlsProblem, type Validity, validityOf } from "./tls-files.ts";

/** Has all servers show another certificate to those who connect from then on. Rejects if one of them cannot. */
export type Renew = (tls: Tls) => Promise<void>;

/** The certificate that is served, which follows what the files hold. */
export interface ServedTls {
  /** `undefined` if there is no certificate. */
  validity(): Validity | undefined;
  /** Why what is in the files is not served; `undefined` if it is, or nobody has looked twice. */
  refusal(): string | undefined;
  /**
   * Has what is in the files served, unless no client would accept it. Whoever renews a certificate writes one file after the other,
   * so this is done only once two looks in a row have found the same. Resolves with whether it was done now.
   */
  look(renew: Renew): Promise<boolean>;
}

export function createServedTls(
  { tls, tlsFiles }: Pick<Config, "tls" | "tlsFiles">,
  clock: Pick<Clock, "now">,
): ServedTls {
  let served = tls;
  let found: object | undefined;
  let refusal: string | undefined;
  const take = async (filed: Tls, renew: Renew): Promise<boolean> => {
    refusal = tlsProblem(filed, clock.now());
    if (refusal !== undefined) return false;
    try {
      await renew(filed);
    } catch (error) {
      refusal = errorText(error);
      return false;
    }
    served = filed;
    return true;
  };
  return {
    validity: () => served && validityOf(served),
    refusal: () => refusal,
    async look(renew) {
      if (!tlsFiles) return false;
      const [before, filed] = [found, await readTlsFiles(tlsFiles)];
      found = filed;
      if (!isDeepStrictEqual(filed, before)) return false;
      if (!("problem" in filed) && !isSameTls(filed, served)) return take(filed, renew);
      refusal = "problem" in filed ? filed.problem : undefined;
      return false;
    },
  };
}
