/** The description of the API is neither stricter than the API nor silent about what it answers. */
import { expect, test } from "bun:test";
import { sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

onEveryStore((start) => {
  test("every header by which a body's type or encoding is refused is described", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    for (const [wrong, named] of [
      [{ "Content-Type": "text/plain" }, "Accept"],
      [{ "Content-Encoding": "gzip" }, "Accept-Encoding"],
    ] as const) {
      const { status, headers } = await api.post("/v1/sms/messages", sms(), { headers: wrong });
      expect([status, headers.has(named)]).toEqual([415, true]);
      for (const path of ["/v1/sms/messages", "/v1/emails/send", "/v1/push/register"])
        expect(paths[path].post.responses[status].headers).toHaveProperty(named);
    }
  });
});
