import { expect, test } from "bun:test";
import { firstUuidAt } from "../../core/uuid.ts";
import { createCreatedAt } from "./created-at.ts";

test("each id has its own millisecond, also where the one before had nearly the same", () => {
  const createdAt = createCreatedAt();
  const start = Date.UTC(2026, 0, 15);
  for (const ms of [0, 0, 1, 2, 15, 16, 255, 256, 4_096, 1, 0])
    expect(createdAt(firstUuidAt(start + ms))).toBe(new Date(start + ms).toISOString());
});
