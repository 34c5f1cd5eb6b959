import { createErasedForm, type ErasedForm } from "../../erasures/erased-recipient.ts";
import { openFact, sealFact } from "../../meta.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";
import { readMeta, writeMeta } from "../database/meta.ts";

/** The function that makes erased forms, with its pepper; see `ErasedForm`. */
export interface ErasedNames {
  /** `undefined` as long as nobody was erased, which costs one look-up in a small table. */
  form(): ErasedForm | undefined;
  /** Like `form`, but makes the pepper if there is none. For use inside a transaction. */
  needForm(): ErasedForm;
}

export function createErasedNames(db: Database, vault: Vault): ErasedNames {
  let kept: ErasedForm | undefined;
  db.onRollback(() => {
    kept = undefined;
  });

  const form = (): ErasedForm | undefined => {
    const sealed = kept ? undefined : readMeta(db, "erasure_pepper");
    if (sealed !== undefined) kept = createErasedForm(openFact(vault, "erasure_pepper", sealed));
    return kept;
  };
  return {
    form,
    needForm() {
      const known = form();
      if (known) return known;
      const pepper = vault.newSecret();
      writeMeta(db, "erasure_pepper", sealFact(vault, "erasure_pepper", pepper));
      kept = createErasedForm(pepper);
      return kept;
    },
  };
}
