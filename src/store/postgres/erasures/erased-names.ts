import { createErasedForm, type ErasedForm, PEPPER } from "../../erasures/erased-recipient.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import { holdKey } from "../records/under-key.ts";

/** The function that makes erased forms, with its pepper; see `ErasedForm`. */
export interface ErasedNames {
  /** `undefined` as long as nobody was erased. */
  form(session: Session): Promise<ErasedForm | undefined>;
  /** The same, if it is in memory. */
  known(): ErasedForm | undefined;
  /** The same; makes the pepper if there is none. For use inside a transaction. */
  needForm(session: Session): Promise<ErasedForm>;
}

export function createErasedNames(vault: Vault): ErasedNames {
  // Once committed the pepper never changes, only the key that it is sealed under.
  let kept: ErasedForm | undefined;
  const read = async (session: Session): Promise<ErasedForm | undefined> => {
    const [row] = await session.query<{ value: string }>("SELECT value FROM meta WHERE name = $1", [
      PEPPER.name,
    ]);
    return row && createErasedForm(vault.open(row.value, PEPPER.place));
  };
  return {
    known: () => kept,
    form: async (session) => (kept ??= await read(session)),
    async needForm(session) {
      const known = kept ?? (await read(session));
      if (known) return known;
      // If another process makes one at the same time, this waits for it, and reads that.
      await holdKey(session, vault);
      await session.query("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
        PEPPER.name,
        vault.seal(vault.newSecret(), PEPPER.place),
      ]);
      const made = await read(session);
      if (!made) throw new Error("the pepper of erasures was not kept");
      return made;
    },
  };
}
