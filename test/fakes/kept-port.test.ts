import { expect, test } from "bun:test";
import { keptPort } from "./kept-port.ts";

test("no port is kept for two at once, though nobody listens there yet", async () => {
  const ports = new Set<number>();
  for (let count = 0; count < 500; count++) ports.add(await keptPort());
  expect(ports.size).toBe(500);
});
