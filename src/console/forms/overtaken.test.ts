import { describe, expect, test } from "bun:test";
import type { Failure } from "../client.ts";
import type { Field, Row } from "./fields.ts";
import { watchOthers } from "./overtaken.ts";

/** What is said beside each field. */
function told(others: (now: Row, changes: Row) => void, now: Row, changes: Row): Row {
  try {
    others(now, changes);
    return {};
  } catch (error) {
    return (error as Failure).details;
  }
}

describe("what somebody else has saved since a form was opened", () => {
  const record = { name: "Acme", tags: ["a"], note: "old" };

  test("is told beside a field that the form would change too, and nowhere else", () => {
    const now = { name: "Acme Ltd", tags: ["a", "b"], note: "new" };
    expect(told(watchOthers({ record }), now, { name: "ACME", tags: ["a", "c"] })).toEqual({
      name: "somebody else has changed it to “Acme Ltd” meanwhile: save again to replace that",
      tags: "somebody else has changed it to “a, b” meanwhile: save again to replace that",
    });
  });

  test("is told once: whoever saves again replaces it, unless it has changed once more", () => {
    const others = watchOthers({ record });
    const changes = { name: "ACME" };
    expect(told(others, { ...record, name: "Acme Ltd" }, changes)).toHaveProperty("name");
    expect(told(others, { ...record, name: "Acme Ltd" }, changes)).toEqual({});
    expect(told(others, { ...record, name: "Acme Inc" }, changes)).toHaveProperty("name");
  });

  test("is told of a field that is changed in the form only after another one was refused", () => {
    const others = watchOthers({ record });
    const now = { ...record, name: "Acme Ltd", note: "new" };
    expect(Object.keys(told(others, now, { name: "ACME" }))).toEqual(["name"]);
    expect(Object.keys(told(others, now, { name: "ACME", note: "mine" }))).toEqual(["note"]);
    expect(told(others, now, { name: "ACME", note: "mine" })).toEqual({});
  });

  test("is nothing to tell of where it is what the form would save, or what was there before", () => {
    expect(told(watchOthers({ record }), { ...record, name: "ACME" }, { name: "ACME" })).toEqual({});
    expect(told(watchOthers({ record }), { name: "Acme", tags: ["a"] }, { note: null })).toEqual({});
    expect(told(watchOthers({ record }), record, { name: "ACME", note: null })).toEqual({});
  });

  test("is told in the words that its field has to choose from", () => {
    const fields: readonly Field[] = [
      { name: "is_default", label: "", kind: "choice", isRequired: false, choices: [["false", "no"]] },
      { name: "connector_id", label: "", kind: "choice", isRequired: false, choices: [["1", "airtel"]] },
    ];
    const others = watchOthers({ record, fields });
    const now = { ...record, is_default: false, connector_id: "1", name: "1" };
    expect(told(others, now, { is_default: true, connector_id: "2", name: "2" })).toEqual({
      is_default: "somebody else has changed it to “no” meanwhile: save again to replace that",
      connector_id: "somebody else has changed it to “airtel” meanwhile: save again to replace that",
      name: "somebody else has changed it to “1” meanwhile: save again to replace that",
    });
  });

  test("may be that a field was emptied, or what only other words tell", () => {
    const inWords = (name: string) => (name === "tags" ? "airtel, spare" : undefined);
    const now = { name: "Acme", tags: [{ connector_id: "1" }] };
    expect(told(watchOthers({ record, inWords }), now, { note: "mine", tags: [] })).toEqual({
      note: "somebody else has emptied it meanwhile: save again to replace that",
      tags: "somebody else has changed it to “airtel, spare” meanwhile: save again to replace that",
    });
  });
});
