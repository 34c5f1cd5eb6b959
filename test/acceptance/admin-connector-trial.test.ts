/** What a test of a connector takes, beside what is stored. */
import { expect, test } from "bun:test";
import { dial } from "../fakes/raw-client.ts";
import { ADMIN_TOKEN, onEveryAdmin } from "./running-admin.ts";

onEveryAdmin((start) => {
  test("what is tried is judged as a change is, and stores nothing", async () => {
    await using admin = await start();
    const config = { host: "a.example", password: "p" };
    const id = (await admin.call("POST", "connectors", { kind: "test", config })).json.id;
    const before = (await admin.call("GET", `connectors/${id}`)).json;
    const changes = admin.configChanges();
    const tried = (body?: unknown, headers?: Record<string, string>) =>
      admin.call("POST", `connectors/${id}/test`, body, headers);
    const wrong = { config: { port: 0, flavor: "rich", password: "" } };
    const refused = await tried(wrong);
    expect(refused.status).toBe(400);
    expect(refused.json).toEqual((await admin.call("PATCH", `connectors/${id}`, wrong)).json);
    // Ignored, it would be the stored password that is tried.
    expect((await tried({ password: "q" })).json.details).toHaveProperty("password");
    expect((await tried({ config: { host: "b.example" } })).json.details).toEqual({
      "config.password": expect.stringContaining("required with another `host`"),
    });
    for (const good of [undefined, {}, { config: { host: "b.example", password: "q" } }])
      expect((await tried(good)).status).toBe(200);
    expect((await tried(undefined, { "Content-Type": "application/x-www-form-urlencoded" })).status).toBe(
      200,
    );
    // As `curl -X POST` asks: without a body, and without a word of its length.
    const wire = await dial(Number(new URL(admin.url).port));
    const headers = `Host: a\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: text/plain\r\nConnection: close`;
    wire.socket.write(`POST /admin/v1/connectors/${id}/test HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect(await wire.until()).toStartWith("HTTP/1.1 200");
    expect((await admin.call("GET", `connectors/${id}`)).json).toEqual(before);
    expect(admin.configChanges()).toBe(changes);
  });
});
