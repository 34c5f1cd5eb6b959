import { expect, test } from "bun:test";
import type { RecordKind, SmsTemplate } from "../../../core/records/accounts.ts";
import type { RecordPage, RecordSearch } from "../../store.ts";
import { inWorld, type OpenStore, type World } from "../world.contract.ts";

/** Both engines find the same records by what they are called. */
export function recordSearchContract(open: OpenStore): void {
  test(
    "a search finds records by a part of any of its fields, whatever its case, or by the whole id",
    inWorld(open, async (world) => {
      const [welcome, otp, bare] = await addTemplates(world, ["Welcome back", "OTP login", "otp"]);
      await world.store.records.update("smsTemplates", welcome!, { dltTemplateId: "1107otp" });
      const found = (text: string) => namesFound(world, text);
      expect(await found("WELCOME")).toEqual(["Welcome back"]);
      expect(await found("e b")).toEqual(["Welcome back"]);
      expect(await found("otp")).toEqual(["Welcome back", "OTP login", "otp"]);
      expect(await found("Otp L")).toEqual(["OTP login"]);
      expect(await found(bare!.id.toUpperCase())).toEqual(["otp"]);
      expect(await found(otp!.id.slice(0, -1))).toEqual([]);
      expect(await found("logout")).toEqual([]);
    }),
  );

  test(
    "letters of every script are found in upper and in lower case, with the accents they were written with",
    inWorld(open, async (world) => {
      const names = ["Äpfel", "ÉTÉ", "Москва", "ΟΔΟΣ", "Δρόμος", "Straße", "İzmir", "ﬁn 🎉 fin", "टेम्पलेट"];
      await addTemplates(world, names);
      const found = (text: string) => namesFound(world, text);
      for (const name of names) expect(await found(name)).toEqual([name]);
      expect(await found("äPFEL")).toEqual(["Äpfel"]);
      expect(await found("été")).toEqual(["ÉTÉ"]);
      expect(await found("мОСК")).toEqual(["Москва"]);
      expect(await found("οδος")).toEqual(["ΟΔΟΣ"]);
      expect(await found("ΔΡΌΜΟΣ")).toEqual(["Δρόμος"]);
      expect(await found("STRAß")).toEqual(["Straße"]);
      await addTemplates(world, ["GROẞE"]);
      for (const sharp of ["oß", "Oẞ"]) expect(await found(sharp)).toEqual(["GROẞE"]);
      expect(await found("🎉 FIN")).toEqual(["ﬁn 🎉 fin"]);
      for (const other of ["apfel", "ete", "strasse", "izmir", "🎈"]) expect(await found(other)).toEqual([]);
    }),
  );

  test(
    "a letter and its accent are found in one character or in two, whichever they are in the name",
    inWorld(open, async (world) => {
      const [composed, decomposed] = ["Café (Nürnberg)".normalize("NFC"), "Café (Nürnberg)".normalize("NFD")];
      await addTemplates(world, [composed, decomposed, "Cafe (Nurnberg)"]);
      for (const text of ["CAFÉ", "é (nü", "nürn"]) {
        for (const form of ["NFC", "NFD"])
          expect(await namesFound(world, text.normalize(form))).toEqual([composed, decomposed]);
      }
      // One that is in neither form.
      const mixed = `${"é".normalize("NFD")}-é`;
      await addTemplates(world, [mixed]);
      expect(await namesFound(world, mixed)).toEqual([mixed]);
    }),
  );

  test(
    "no character of a search stands for another",
    inWorld(open, async (world) => {
      const odd = String.raw`a%b_c*d?e[f]g^h-i\j.k+l$m|n(o)p{2}q'r"s`;
      await addTemplates(world, ["plain", odd]);
      const found = (text: string) => namesFound(world, text);
      expect(await found(odd)).toEqual([odd]);
      expect(await found(odd.toUpperCase())).toEqual([odd]);
      for (const character of odd.replaceAll(/[a-z]/g, "")) expect(await found(character)).toEqual([odd]);
      for (const other of [
        "a_b",
        "a.b",
        "a%",
        "b%c",
        "d*e",
        "[f-g]",
        "^p",
        "n$",
        ".*",
        "\\w",
        "h-j",
        "(?:a)",
      ])
        expect(await found(other)).toEqual(other === "a%" ? [odd] : []);
    }),
  );

  test(
    "a search narrows what other values select, and has pages",
    inWorld(open, async (world) => {
      const { store, account, addAccount } = world;
      const other = await addAccount();
      const names = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? `match ${index}` : "other"));
      const mine = await addTemplates(world, names);
      await addTemplates(world, ["match elsewhere"], other.id);
      const search = searchFor("MATCH");
      const list = (page: Partial<RecordPage<"smsTemplates">>) =>
        store.records.list("smsTemplates", { accountId: account.id }, { limit: 2, search, ...page });
      expect(await list({})).toEqual([mine[0]!, mine[2]!]);
      expect(await list({ after: mine[2]!.id })).toEqual([mine[4]!]);
      expect(await list({ after: mine[4]!.id })).toEqual([]);
      expect(await namesFound(world, "elsewhere")).toEqual(["match elsewhere"]);
    }),
  );

  test(
    "an erased recipient is found by none of the characters that stand in its place",
    inWorld(open, async (world) => {
      const { store, account, id, clock } = world;
      const { records } = store;
      const form = `erased:${"0a1b".repeat(16)}`;
      const entry = { accountId: account.id, createdAt: clock.now, reason: "manual" } as const;
      await records.create("suppressions", { ...entry, id: id(), email: "0a1b@acme.test" });
      await records.create("suppressions", { ...entry, id: id(), email: form });
      await records.create("optOuts", { ...entry, id: id(), recipient: form });
      const count = async <K extends RecordKind>(kind: K, search: RecordSearch<K>) =>
        (await records.list(kind, {}, { limit: 10, search })).length;
      for (const text of ["0a1b", "erased", form]) {
        expect(await count("suppressions", { text, fields: ["email"] })).toBe(text === "0a1b" ? 1 : 0);
        expect(await count("optOuts", { text, fields: ["recipient"] })).toBe(0);
      }
    }),
  );
}

function searchFor(text: string): RecordSearch<"smsTemplates"> {
  return { text, fields: ["name", "dltTemplateId"] };
}

async function namesFound({ store }: World, text: string): Promise<readonly string[]> {
  const found = await store.records.list("smsTemplates", {}, { limit: 100, search: searchFor(text) });
  return found.map(({ name }) => name);
}

async function addTemplates(
  { store, account, id, clock }: World,
  names: readonly string[],
  accountId = account.id,
): Promise<readonly SmsTemplate[]> {
  const all = names.map((name) => ({ id: id(), accountId, name, body: "Code", createdAt: clock.now }));
  for (const template of all) await store.records.create("smsTemplates", template);
  return all;
}
