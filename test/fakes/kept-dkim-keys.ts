import { type DkimKeys, type MakeDkimKeys, makeDkimKeys } from "../../src/api/admin/domains/dkim-pair.ts";

/** In turn: a domain's next keys are others than those it has. */
const KEPT = 4;

const kept: Promise<DkimKeys>[] = [];

/** Real keys, of which a test run makes few: an RSA key is a tenth of a second of work. To be called once for each service. */
export function keptDkimKeys(): MakeDkimKeys {
  let asked = 0;
  return () => {
    const at = asked++ % KEPT;
    kept[at] ??= makeDkimKeys();
    return kept[at];
  };
}
