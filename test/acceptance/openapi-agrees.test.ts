/** The description of the API is neither stricter than the API nor silent about what it answers. */
import { expect, test } from "bun:test";
import { email, sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

onEveryStore((start) => {
  test("an international address is taken wherever an address is, and the schema says that it may be one", async () => {
    await using api = await start();
    const { components } = (await api.get("/openapi.json")).json;
    const { from, to, cc, bcc, reply_to } = components.schemas.SendEmail.properties;
    const address = "jörg@bücher.example";
    for (const [over, schema] of [
      [{ from: { email: address } }, from.properties.email],
      [{ to: [{ email: address }] }, to.items.properties.email],
      [{ cc: [{ email: address }] }, cc.items.properties.email],
      [{ bcc: [{ email: address }] }, bcc.items.properties.email],
      [{ reply_to: address }, reply_to],
    ] as const) {
      expect([(await api.post("/v1/emails/messages", email(over))).status, over]).toEqual([202, over]);
      expect([schema.format, over]).toEqual(["idn-email", over]);
    }
  });

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
