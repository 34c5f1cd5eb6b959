import { expect, test } from "bun:test";
import { onEveryStore } from "../../../test/acceptance/running-api.ts";
import { createSystemClock } from "../system-clock.ts";
import { createForward, isOpenToAll } from "./forward.ts";

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

for (const method of ["GET", "POST"]) {
  test(`a ${method} that nobody answers at the other end gets a 503 with the id of the request, or one of its own`, async () => {
    const forward = createForward("/nowhere/postrider.sock", createSystemClock(), {
      ids: () => "made",
      threads: 1,
    });
    const ask = async (headers: Record<string, string>) => {
      const answer = await forward(new Request("http://localhost/healthz", { method, headers }), () => "");
      return [answer.status, answer.headers.get("x-request-id"), await answer.json()];
    };
    const body = { code: 503, message: "service unavailable" };
    expect(await ask({})).toEqual([503, "made", body]);
    expect(await ask({ "X-Request-Id": "theirs" })).toEqual([503, "theirs", body]);
    const push = new Request("http://localhost/v1/push/identify", { method: "POST" });
    const toPage = await forward(push, () => "");
    expect([toPage.status, toPage.headers.get("access-control-allow-origin")]).toEqual([503, "*"]);
  });
}
