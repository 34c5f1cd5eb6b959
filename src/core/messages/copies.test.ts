import { describe, expect, test } from "bun:test";
import { withEarlierCopy, withFailedCopy, withLaterCopy, withoutCopy } from "./copies.ts";
import type { Copy, Part } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";

const CONNECTORS = ["a", "b", "c", "d", "e", "f", "g", "h"] as const;

const idOf = (connectorId: string) => `id of ${connectorId}`;
const copyAt = (connectorId: string): Copy => ({ connectorId, providerMessageId: idOf(connectorId) });
const taken = (connectorId: string): PartOutcome => ({
  kind: "sent",
  providerMessageIds: [idOf(connectorId)],
});
const failed = (connectorId: string): Receipt => ({
  ...copyAt(connectorId),
  providerMessageId: idOf(connectorId),
  status: "undelivered",
  receivedAt: 0,
});

/** The connectors that a part tells of, its own first. */
function toldOf({ connectorId, other }: Pick<Part, "connectorId" | "other">): readonly string[] {
  return [...(connectorId === undefined ? [] : [connectorId]), ...(other ? toldOf(other) : [])];
}

const FIRST: Part = { status: "sent", ...copyAt("a") };

describe("of more copies than six", () => {
  const later = CONNECTORS.slice(1).reduce(
    (part, connectorId) => withLaterCopy(part, taken(connectorId), { connectorId }),
    FIRST,
  );

  test("the latest are told, each of whose failures leaves the others", () => {
    expect(toldOf(later)).toEqual(["h", "g", "f", "e", "d", "c"]);
    const left = ["h", "e", "c", "g", "f"].reduce<Part | undefined>(
      (part, connectorId) => part && withoutCopy(part, failed(connectorId)),
      later,
    );
    expect(left).toEqual({ status: "sent", ...copyAt("d") });
    expect(left && withoutCopy(left, failed("d"))).toBeUndefined();
  });

  test("one that answers late is told in place of the one that was told first", () => {
    const late = withEarlierCopy(later, taken("b"), { connectorId: "b" });
    expect(toldOf(late)).toEqual(["h", "b", "g", "f", "e", "d"]);
  });

  test("one that has failed is, too, until its failure is told", () => {
    const beside = withFailedCopy(later, copyAt("b"));
    expect(toldOf(beside)).toEqual(["h", "b", "g", "f", "e", "d"]);
    expect(toldOf(withoutCopy(beside, failed("b")) ?? {})).toEqual(["h", "g", "f", "e", "d"]);
  });
});

describe("a copy that failed before its connector took the segment again", () => {
  const again: Part = { status: "sent", connectorId: "a", providerMessageId: "2A" };

  test("is told beside the new one, so that its failure is not that one's", () => {
    const beside = withFailedCopy({ ...again, other: copyAt("b") }, copyAt("a"));
    expect(beside).toEqual({ ...again, other: { ...copyAt("a"), other: copyAt("b") } });
    expect(withoutCopy(beside, failed("a"))).toEqual({ ...again, other: copyAt("b") });
  });

  test("is that one, where the ids are one, in whatever spelling or base", () => {
    for (const providerMessageId of ["2A", "002a", "42"])
      expect(withFailedCopy(again, { connectorId: "a", providerMessageId })).toBe(again);
  });

  test("is not told twice, nor beside a segment that nobody has taken", () => {
    const told: Part = { ...again, other: copyAt("a") };
    expect(withFailedCopy(told, copyAt("a"))).toBe(told);
    const pending: Part = { status: "pending" };
    expect(withFailedCopy(pending, copyAt("a"))).toBe(pending);
  });
});

test("a connector that says once more, under the same id, that it has a segment has one copy of it", () => {
  const twice = withLaterCopy(FIRST, taken("a"), { connectorId: "a" });
  expect(toldOf(twice)).toEqual(["a"]);
  expect(withoutCopy(twice, failed("a"))).toBeUndefined();
});

test("a copy that was never confirmed is not waited for once a later one is taken", () => {
  const silent: PartOutcome = { kind: "unconfirmed", error: { code: "unconfirmed", message: "" } };
  const doubtful = withLaterCopy(FIRST, silent, { connectorId: "b" });
  expect(toldOf(doubtful)).toEqual(["a", "b"]);
  expect(toldOf(withLaterCopy(doubtful, taken("c"), { connectorId: "c" }))).toEqual(["c", "a"]);
});

test("a failure in another base is that of its own connector's copy, though another connector's has that very id", () => {
  const part: Part = { status: "sent", connectorId: "a", providerMessageId: "16" };
  const both: Part = { ...part, other: { connectorId: "b", providerMessageId: "10" } };
  const left = withoutCopy(both, { ...failed("a"), providerMessageId: "10" });
  expect(left).toEqual({ status: "sent", connectorId: "b", providerMessageId: "10" });
});
