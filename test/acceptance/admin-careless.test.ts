/** What operators ask for in a hurry: two things at once, blanks, numbers written another way, accounts that are not there. */
import { beforeAll, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

const NOBODY = "01890000-0000-7000-8000-000000000000";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  test("two changes of different fields of one connector at once both hold", async () => {
    const config = { host: "a.example", port: 1 };
    const { json } = await admin.call("POST", "connectors", { kind: "test", name: "both", config });
    const changes = [{ port: 2 }, { host: "b.example" }, { use_tls: true }, { password: "secret" }];
    const answers = await Promise.all(
      changes.map((change) => admin.call("PATCH", `connectors/${json.id}`, { config: change })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { json: now } = await admin.call("GET", `connectors/${json.id}`);
    expect(now.config).toMatchObject({ host: "b.example", port: 2, use_tls: true });
    expect(now.secrets).toEqual({ password: "set" });
  });

  test("changes of one connector at once are made one after the other, as many as there are", async () => {
    const config = { host: "a.example" };
    const { json } = await admin.call("POST", "connectors", { kind: "test", name: "many", config });
    const ports = Array.from({ length: 80 }, (_, index) => index + 1);
    const answers = await Promise.all(
      ports.map((port) => admin.call("PATCH", `connectors/${json.id}`, { config: { port } })),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.map((answer) => answer.json.config.port)).toEqual(ports);
  });

  test("of two that make new keys for one domain at once one is told that there are some already", async () => {
    const { json } = await admin.call("POST", "domains", { account_id: live, domain: "twice.example" });
    for (const { type, name, value } of json.records) admin.dns.set(`${type} ${name}`, [value]);
    expect((await admin.call("POST", `domains/${json.id}/verify`)).json.verified).toBe(true);
    const rotate = () => admin.call("POST", `domains/${json.id}/rotate-dkim`);
    const answers = await Promise.all([rotate(), rotate()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const made = answers.find(({ status }) => status === 200);
    const { json: now } = await admin.call("GET", `domains/${json.id}`);
    expect(now.next_dkim_selector).toBe(made?.json.next_dkim_selector);
  });

  test("an account in use says by what, whatever it is, and keeps its revoked keys", async () => {
    const { json: account } = await admin.call("POST", "accounts", { name: "Busy", mode: "live" });
    const account_id = account.id;
    const { json: key } = await admin.call("POST", "keys", { account_id });
    await admin.call("POST", `keys/${key.id}/revoke`);
    const made = [
      ["dlt-entities", { account_id, entity_id: "1101456780000012345" }],
      ["inbound-numbers", { account_id, number: "+14155550199" }],
      ["opt-outs", { account_id, recipient: "+919876543211" }],
    ] as const;
    const ids: string[] = [];
    for (const [noun, body] of made) ids.push(`${noun}/${(await admin.call("POST", noun, body)).json.id}`);
    const { status, json } = await admin.call("DELETE", `accounts/${account_id}`);
    expect([status, json.details.id]).toEqual([
      409,
      "the account is in use by its DLT entities, its inbound numbers, its opt-outs",
    ]);
    expect((await admin.call("GET", `keys/${key.id}`)).status).toBe(200);
    for (const path of ids) await admin.call("DELETE", path);
    expect((await admin.call("DELETE", `accounts/${account_id}`)).status).toBe(204);
    expect((await admin.call("GET", `keys/${key.id}`)).status).toBe(404);
  });

  test("a blank is no number and no sender", async () => {
    const create = async (noun: string, body: object) => (await admin.call("POST", noun, body)).json.details;
    expect(await create("inbound-numbers", { account_id: live, number: " " })).toEqual({
      number: "required",
    });
    const recipient = "+919876543222";
    expect(await create("opt-outs", { account_id: live, recipient, sender: " " })).toEqual({
      sender: "must name a sender; without one it is any of the account",
    });
    const written = { account_id: admin.accountId, from: " ", to: " ", text: " " };
    expect(await create("sandbox/inbound", written)).toEqual({ from: "required", to: "required" });
  });

  test("an opt-out is found however its number and its sender are written", async () => {
    await admin.call("POST", "opt-outs", { account_id: live, recipient: "+919876543233", sender: "ACMECO" });
    for (const query of [
      "recipient=%2B919876543233",
      "recipient=+919876543233",
      "recipient=%2B91%2098765%2043233",
      "recipient=9876543233&sender=acmeco",
    ]) {
      expect((await admin.call("GET", `opt-outs?${query}`)).json.data).toHaveLength(1);
    }
  });

  test("an account that is not there is told, and not taken for one that has nothing", async () => {
    for (const path of ["sandbox/messages", "inbound-messages", "keys", "webhooks"]) {
      const { status, json } = await admin.call("GET", `${path}?account_id=${NOBODY}`);
      expect([path, status, json.details]).toEqual([path, 400, { account_id: "no such account" }]);
    }
  });

  test("a connector that is not there is not told as taken", async () => {
    const body = { account_id: live, number: "56161", connector_id: NOBODY };
    expect((await admin.call("POST", "inbound-numbers", body)).json.details).toEqual({
      connector_id: "no such connector",
    });
  });

  test("many are named in plural in the description, also DLT entities", async () => {
    const text = await (await fetch(`${admin.url}/openapi.json`)).text();
    expect(text).toContain('"listDltEntities"');
    expect(text).not.toMatch(/entitys/i);
  });
});
