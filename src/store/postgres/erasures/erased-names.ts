import { createErasedForm, type ErasedForm } from "../../erasures/erased-recipient.ts";
import { openFact, sealFact } from "../../meta.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { readMeta } from "../database/meta.ts";
import type { Database } from "../database/transactions.ts";
import { holdKey } from "../records/under-key.ts";

/** The function that makes erased forms, with its pepper; see `ErasedForm`. */
export interface ErasedNames {
  /** `undefined` as long as nobody was erased. */
  form(session: Session): Promise<ErasedForm | undefined>;
  /** `form`, if it is in memory. */
  known(): ErasedForm | undefined;
  /**
   * Like `form`, for a transaction that is about to put recipients on a list: until it ends, none is erased from the lists. To be
   * called before the transaction looks for erased forms.
   */
  formToList(session: Session): Promise<ErasedForm | undefined>;
  /** Waits for transactions that are putting recipients on a list, and keeps out others until this one ends. */
  lockLists(session: Session): Promise<void>;
  /** Like `form`, but makes the pepper if there is none. For use inside a transaction. */
  needForm(session: Session): Promise<ErasedForm>;
}

export function createErasedNames(db: Pick<Database, "onOtherServer">, vault: Vault): ErasedNames {
  // Once committed the pepper never changes, only the key that it is sealed under. Another server may not have it: what was erased there
  // under one that is not stored would be found by nobody.
  let kept: ErasedForm | undefined;
  db.onOtherServer(() => {
    kept = undefined;
  });
  const read = async (session: Session): Promise<ErasedForm | undefined> => {
    const sealed = await readMeta(session, "erasure_pepper");
    return sealed === undefined ? undefined : createErasedForm(openFact(vault, "erasure_pepper", sealed));
  };
  const form = async (session: Session) => (kept ??= await read(session));
  return {
    known: () => kept,
    form,
    async formToList(session) {
      await session.query(`SELECT pg_advisory_xact_lock_shared(${LOCKS.listing})`);
      return form(session);
    },
    lockLists: async (session) =>
      void (await session.query(`SELECT pg_advisory_xact_lock(${LOCKS.listing})`)),
    async needForm(session) {
      const known = kept ?? (await read(session));
      if (known) return known;
      // If another process makes one at the same time, this waits for it, and reads the other's.
      await holdKey(session, vault);
      await session.query(
        "INSERT INTO meta (name, value) VALUES ('erasure_pepper', $1) ON CONFLICT DO NOTHING",
        [sealFact(vault, "erasure_pepper", vault.newSecret())],
      );
      const made = await read(session);
      if (!made) throw new Error("the pepper of erasures was not stored");
      return made;
    },
  };
}
