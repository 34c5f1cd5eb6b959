import { expect, test } from "bun:test";
import { sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

const PATH = "/v1/sms/messages";

onEveryStore((start) => {
  test("every response has X-Request-Id: the client's own where it is sane, else a new one", async () => {
    await using api = await start();
    const id = async (given?: string) => {
      const headers = given === undefined ? {} : { "X-Request-Id": given };
      return (await api.get("/nowhere", { headers })).headers.get("x-request-id");
    };
    expect(await id("trace-7")).toBe("trace-7");
    for (const given of [undefined, "a b", "x".repeat(129)]) {
      expect(await id(given)).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(await id()).not.toBe(await id());
    for (const path of ["/healthz", "/openapi.json", "/docs"]) {
      expect((await api.get(path)).headers.get("x-request-id")).toBeString();
    }
  });

  test("the log has a line per request, with the path's pattern and neither body, key nor number", async () => {
    await using api = await start();
    const { json } = await api.post(PATH, sms({ metadata: { secret: "hush" } }));
    await api.get(`${PATH}/${json.message_id}`);
    const lines = api.logged.filter(({ level }) => level === "debug").map(({ fields }) => fields);
    expect(lines[0]).toMatchObject({
      method: "POST",
      path: PATH,
      status: 202,
      account_id: api.caller.accountId,
    });
    expect(lines[1]).toMatchObject({ method: "GET", path: `${PATH}/{message_id}`, status: 200 });
    const text = JSON.stringify(api.logged);
    for (const hidden of ["hush", api.caller.key, "9876543210"]) expect(text).not.toContain(hidden);
  });

  test("every request is observed once, by operation and status", async () => {
    await using api = await start();
    await api.post(PATH, sms());
    await api.post("/v1/sms/send", {});
    await api.get("/nowhere");
    expect(api.observed.map(({ operation, status }) => [operation, status])).toEqual([
      ["sendSms", 202],
      ["sendSms", 400],
      ["none", 404],
    ]);
  });
});
