import { createErasedForm, type ErasedForm, PEPPER } from "../../erasures/erased-recipient.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import { holdKey } from "../records/under-key.ts";

/** How those are known again who were erased and are not to be written to. */
export interface ErasedNames {
  /** `undefined` as long as there is none. */
  form(session: Session): Promise<ErasedForm | undefined>;
  /** The same from memory. */
  known(): ErasedForm | undefined;
  /** The same, for the first of them. Inside a transaction. */
  needForm(session: Session): Promise<ErasedForm>;
}

export function createErasedNames(vault: Vault): ErasedNames {
  // Once it is committed it is never changed, but for the key it is sealed under.
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
      // Another process may be first: then its pepper is waited for, and read.
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
