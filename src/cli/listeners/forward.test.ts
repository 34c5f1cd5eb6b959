import { expect, test } from "bun:test";
import { onEveryStore } from "../../../test/acceptance/running-api.ts";
import { isOpenToAll } from "./forward.ts";

onEveryStore((start) => {
  test("bodies are limited as strangers' on every path that takes one without a key, and on no other", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const withBody = Object.entries<Record<string, { security?: unknown[]; requestBody?: unknown }>>(paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, what]) => ({ path, method, ...what })),
      )
      .filter(({ method, requestBody }) => method === "post" && requestBody !== undefined);
    const isKeyless = ({ security }: { security?: unknown[] }) => (security ?? []).length === 0;
    expect(withBody.filter(isKeyless).length).toBeGreaterThan(0);
    for (const each of withBody)
      expect([each.path, isOpenToAll(each.path)]).toEqual([each.path, isKeyless(each)]);
  });
});
