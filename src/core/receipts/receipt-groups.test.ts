import { expect, test } from "bun:test";
import type { Connector } from "../records/accounts.ts";
import { firstOfGroups, receiptGroups } from "./receipt-groups.ts";

const connector = (id: string, config: Record<string, unknown>, kind = "smpp"): Connector => ({
  id,
  kind,
  config,
  name: id,
  secrets: {},
  isEnabled: true,
  createdAt: 0,
});
const bound = (id: string, host: string, system_id: string, more: Record<string, unknown> = {}) =>
  connector(id, { host, system_id, ...more });
const groupsOf = (...connectors: readonly Connector[]) => Object.fromEntries(receiptGroups(connectors));

test("one host and system_id is one account, whatever the port; the host's case does not count", () => {
  expect(
    groupsOf(
      bound("a", "smsc.example", "acme", { port: 2775 }),
      bound("b", "SMSC.example", "acme", { port: 2776 }),
      bound("c", "smsc.example", "Acme"),
      bound("d", "other.example", "acme"),
      connector("e", { host: "smsc.example", system_id: "acme" }, "smtp"),
    ),
  ).toEqual({ a: ["b"], b: ["a"] });
});

test("connectors that name another belong together both ways, and with all that belong to it, also where it is deleted", () => {
  expect(
    groupsOf(
      bound("a", "one.example", "acme"),
      bound("b", "two.example", "acme", { receipts_with: ["a", "gone"] }),
      bound("c", "one.example", "acme"),
    ),
  ).toEqual({ a: ["b", "c", "gone"], b: ["a", "c", "gone"], c: ["a", "b", "gone"], gone: ["a", "b", "c"] });
  expect(groupsOf(bound("a", "one.example", "acme", { receipts_with: ["a"] }))).toEqual({});
});

test("the first of a group stays the same while it is disabled", () => {
  const connectors = [
    bound("c", "one.example", "acme"),
    { ...bound("a", "one.example", "acme"), isEnabled: false },
    bound("b", "one.example", "acme"),
    bound("d", "two.example", "acme"),
  ];
  expect(Object.fromEntries(firstOfGroups(receiptGroups(connectors)))).toEqual({ b: "a", c: "a" });
});
