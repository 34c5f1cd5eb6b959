import { beforeAll, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  const MESSAGE = { from: "98765 43210", to: "56161", text: "Stop" };

  test("a sandbox account receives what is written to it by hand, stop words included", async () => {
    const { status, json } = await admin.call("POST", "sandbox/inbound", {
      ...MESSAGE,
      account_id: admin.accountId,
    });
    expect(status).toBe(201);
    const { data } = (await admin.call("GET", `inbound-messages?account_id=${admin.accountId}`)).json;
    expect(data).toMatchObject([
      { message_id: json.message_id, from: "+919876543210", keyword: "stop", connector_id: "sandbox" },
    ]);
    const optOuts = await admin.call(
      "GET",
      `opt-outs?account_id=${admin.accountId}&recipient=%2B919876543210`,
    );
    expect(optOuts.json.data).toMatchObject([{ sender: "56161", reason: "wrote STOP" }]);
  });

  test("a live account receives nothing by hand", async () => {
    const { status, json } = await admin.call("POST", "sandbox/inbound", { ...MESSAGE, account_id: live });
    expect([status, json.details]).toEqual([400, { account_id: "must be a sandbox account" }]);
    const empty = await admin.call("POST", "sandbox/inbound", {});
    expect(Object.keys(empty.json.details).sort()).toEqual(["account_id", "from", "text", "to"]);
  });

  test("what is nobody's is shown where no account is named", async () => {
    const now = admin.clock.now();
    const id = "019bc186-de00-7000-8000-000000000001";
    const message = {
      id,
      key: id,
      connectorId: "c",
      from: "+1",
      to: "777",
      text: "hi",
      encoding: "gsm7" as const,
    };
    await admin.store.inbound.receive([{ ...message, segments: 1, receivedAt: now, sameSince: now }]);
    const { json } = await admin.call("GET", "inbound-messages");
    expect(json.data).toMatchObject([{ message_id: id, to: "777" }]);
    expect(json.data[0]).not.toHaveProperty("account_id");
  });

  test("a number is one account's, of one connector or of any", async () => {
    const body = { account_id: live, number: "14155550123" };
    const first = await admin.call("POST", "inbound-numbers", body);
    expect(first.json).toMatchObject({ number: "+14155550123" });
    const again = await admin.call("POST", "inbound-numbers", { ...body, account_id: admin.accountId });
    expect([again.status, Object.keys(again.json.details)]).toEqual([409, ["number"]]);
    const { id } = first.json;
    for (const connector_id of ["01890000-0000-7000-8000-000000000000", "nowhere"]) {
      const problem = { message: "validation failed", details: { connector_id: "no such connector" } };
      const made = await admin.call("POST", "inbound-numbers", { ...body, number: "1", connector_id });
      expect([made.status, made.json]).toMatchObject([400, problem]);
      const changed = await admin.call("PATCH", `inbound-numbers/${id}`, { connector_id });
      expect([changed.status, changed.json]).toMatchObject([400, problem]);
    }
  });

  test("a number comes through a connector for SMS, not through one for email", async () => {
    const make = (kind: string, config: object) => admin.call("POST", "connectors", { kind, config });
    const mail = (await make("smtp", { host: "mail.example.com" })).json;
    const sms = (await make("smpp", { host: "smsc.example.com", system_id: "acme", password: "s" })).json;
    const body = { account_id: live, number: "56170" };
    const problem = { connector_id: "smtp is a connector for email, not for sms" };
    const refused = await admin.call("POST", "inbound-numbers", { ...body, connector_id: mail.id });
    expect([refused.status, refused.json.details]).toEqual([400, problem]);
    const capitals = sms.id.toUpperCase();
    const made = await admin.call("POST", "inbound-numbers", { ...body, connector_id: capitals });
    expect([made.status, made.json.connector_id]).toEqual([201, sms.id]);
    const changed = await admin.call("PATCH", `inbound-numbers/${made.json.id}`, { connector_id: mail.id });
    expect([changed.status, changed.json.details]).toEqual([400, problem]);
    const same = await admin.call("PATCH", `inbound-numbers/${made.json.id}`, { connector_id: capitals });
    expect([same.status, same.json.connector_id]).toEqual([200, sms.id]);
  });

  test("numbers are listed by their connector; one that there is not is refused, since an empty list would say that it has none", async () => {
    const config = { host: "smsc.example.com", system_id: "acme", password: "s" };
    const { id } = (await admin.call("POST", "connectors", { kind: "smpp", config })).json;
    const list = (connector: string) => admin.call("GET", `inbound-numbers?connector_id=${connector}`);
    expect(await list(id)).toMatchObject({ status: 200, json: { data: [] } });
    const body = { account_id: live, number: "56171", connector_id: id };
    const { id: number } = (await admin.call("POST", "inbound-numbers", body)).json;
    expect((await list(id.toUpperCase())).json.data).toMatchObject([{ id: number }]);
    for (const none of ["smpp", "01890000-0000-7000-8000-000000000000"]) {
      const { status, json } = await list(none);
      expect([status, json.details]).toEqual([400, { connector_id: "no such connector" }]);
    }
  });

  test("an opt-out is of a number, once, and takes any way to write it", async () => {
    const body = { account_id: live, recipient: "91 98765-43210" };
    expect((await admin.call("POST", "opt-outs", body)).json).toMatchObject({ recipient: "+919876543210" });
    expect((await admin.call("POST", "opt-outs", body)).status).toBe(409);
    expect((await admin.call("POST", "opt-outs", { ...body, sender: "acme" })).json.sender).toBe("ACME");
    const bad = await admin.call("POST", "opt-outs", { account_id: live, recipient: "acme" });
    expect(bad.json.details.recipient).toContain("invalid phone number");
  });

  test("there are no alarms where nothing is wrong", async () => {
    expect((await admin.call("GET", "alarms")).json).toEqual({ data: [], is_watching: true });
  });
});
