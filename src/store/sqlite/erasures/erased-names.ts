import { createErasedForm, type ErasedForm, PEPPER } from "../../erasures/erased-recipient.ts";
import type { Vaults } from "../../records/rotation.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";

/** The function that makes erased forms, with its pepper; see `ErasedForm`. */
export interface ErasedNames {
  /** `undefined` as long as nobody was erased, which costs one look-up in a small table. */
  form(): ErasedForm | undefined;
  /** Like `form`, but makes the pepper if there is none. For use inside a transaction. */
  needForm(): ErasedForm;
}

export function createErasedNames(db: Database, vault: Vault): ErasedNames {
  const select = db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?");
  const insert = db.prepare("INSERT INTO meta (name, value) VALUES (?, ?)");
  let kept: ErasedForm | undefined;
  db.onRollback(() => {
    kept = undefined;
  });

  const form = (): ErasedForm | undefined => {
    const sealed = kept ? undefined : select.get(PEPPER.name)?.value;
    if (sealed !== undefined) kept = createErasedForm(vault.open(sealed, PEPPER.place));
    return kept;
  };
  return {
    form,
    needForm() {
      const known = form();
      if (known) return known;
      const pepper = vault.newSecret();
      insert.run(PEPPER.name, vault.seal(pepper, PEPPER.place));
      kept = createErasedForm(pepper);
      return kept;
    },
  };
}

/** Seals the pepper under another master key. Inside a transaction. */
export function sealPepper(db: Pick<Database, "prepare">, { from, to }: Vaults): void {
  const row = db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?").get(PEPPER.name);
  if (!row) return;
  const sealed = to.seal(from.open(row.value, PEPPER.place), PEPPER.place);
  db.prepare("UPDATE meta SET value = ? WHERE name = ?").run(sealed, PEPPER.name);
}
