import { expect, test } from "bun:test";
import { startFleet } from "./chaos/fleet.ts";

test("a process of a chaos run that ends by itself is not taken for one that runs, and not started again", async () => {
  const fleet = await startFleet("sqlite", 0);
  try {
    await fleet.heal();
    const service = fleet.some(() => 0)!;
    service.kill("SIGHUP");
    await service.exited;
    await expect(fleet.heal()).rejects.toThrow(
      new RegExp(`^process ${service.pid} \\(one\\) ended by itself with 0:[^]*"msg":"stopped"`),
    );
  } finally {
    await fleet.close();
  }
}, 120_000);
