import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createVault } from "./vault.ts";

const vault = createVault({ masterKey: "k".repeat(32), randomBytes });

test("a sealed secret opens under the same key and place, and nowhere else", () => {
  const sealed = vault.seal("hünter2", "connectors/secrets/1");
  expect(sealed).not.toContain("hünter2");
  expect(vault.open(sealed, "connectors/secrets/1")).toBe("hünter2");
  expect(() => vault.open(sealed, "connectors/secrets/2")).toThrow("does not open");
  const other = createVault({ masterKey: "l".repeat(32), randomBytes });
  expect(() => other.open(sealed, "connectors/secrets/1")).toThrow("does not open");
});

test("a sealed secret that was changed does not open", () => {
  const sealed = vault.seal("secret", "p");
  const octets = Buffer.from(sealed.slice(3), "base64");
  for (const index of [0, 12, octets.length - 1]) {
    const changed = Buffer.from(octets);
    changed[index]! ^= 1;
    expect(() => vault.open(`v1.${changed.toString("base64")}`, "p")).toThrow("does not open");
  }
  for (const text of ["", "v1.", "v2.AAAA", "plain"]) {
    expect(() => vault.open(text, "p")).toThrow("not a sealed value");
  }
});

test("a new secret is 32 octets, and never the same", () => {
  expect(vault.newSecret()).toMatch(/^[0-9a-f]{64}$/);
  expect(vault.newSecret()).not.toBe(vault.newSecret());
});

test("the same secret is sealed differently each time", () => {
  expect(vault.seal("a", "p")).not.toBe(vault.seal("a", "p"));
});

test("the check value tells master keys apart and is the same for the same key", () => {
  const same = createVault({ masterKey: "k".repeat(32), randomBytes });
  const other = createVault({ masterKey: new Uint8Array(32), randomBytes });
  expect(same.checkValue).toBe(vault.checkValue);
  expect(other.checkValue).not.toBe(vault.checkValue);
});
