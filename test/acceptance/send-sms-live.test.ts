import { expect, test } from "bun:test";
import { liveAccount, sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

onEveryStore((start) => {
  test("a registered template, sender and route are found and what was resolved is shown", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    const body = sms({ template_id: live.templateId, variables: { "1": "4821", "2": 5 } });
    const { status, json } = await api.post("/v1/sms/messages", body, { key: live.key });
    expect(status).toBe(202);
    const shown = await api.get(`/v1/sms/messages/${json.message_id}`, { key: live.key });
    expect(shown.json).toMatchObject({
      from: "ACMECO",
      template_id: live.templateId,
      dlt_template_id: "1107161234567890123",
      dlt_entity_id: "1101172974420810001",
    });
    const jobs = { queue: live.routeId, limit: 10, now: api.clock.now(), leaseMs: 1000 };
    const [job] = await api.store.queue.claim(jobs);
    expect(job?.messageId).toBe(json.message_id);
    expect(job?.content).toMatchObject({ text: "Your code is {#var#}, valid for {#var#} minutes." });
  });

  test("the template that a DLT id names is shown, and told to the connector, as one that its own id names", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    const variables = { "1": "4821", "2": 5 };
    for (const template of [{ template_id: live.templateId }, { dlt_template_id: "1107161234567890123" }]) {
      const body = { to: "+919876543210", variables, ...template };
      const { json } = await api.post("/v1/sms/messages", body, { key: live.key });
      const shown = await api.get(`/v1/sms/messages/${json.message_id}`, { key: live.key });
      expect(shown.json).toMatchObject({
        template_id: live.templateId,
        dlt_template_id: "1107161234567890123",
      });
    }
    const jobs = { queue: live.routeId, limit: 10, now: api.clock.now(), leaseMs: 1000 };
    const claimed = await api.store.queue.claim(jobs);
    expect(claimed.map(({ content }) => content)).toEqual([
      expect.objectContaining({ templateId: live.templateId }),
      expect.objectContaining({ templateId: live.templateId }),
    ]);
  });

  test("a connector is told the DLT id of a template also where the recipients need none, and nobody else is", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    const { accountId, key, templateId: template_id } = live;
    const { connectorIds } = (await api.store.records.find("routes", { id: live.routeId }))!;
    const { id: queue } = await api.add("routes", { accountId, channel: "sms", match: "1", connectorIds });
    const body = { to: "+14155550123", template_id, variables: { "1": "4821", "2": 5 } };
    const { json } = await api.post("/v1/sms/messages", body, { key });
    const shown = await api.get(`/v1/sms/messages/${json.message_id}`, { key });
    expect(shown.json).not.toHaveProperty("dlt_template_id");
    const [job] = await api.store.queue.claim({ queue, limit: 1, now: api.clock.now(), leaseMs: 1000 });
    expect(job?.content).toMatchObject({ templateId: template_id, templateDltId: "1107161234567890123" });
  });

  test("an unknown template is not a template of this account", async () => {
    await using api = await start();
    const { key } = await liveAccount(api);
    const byId = await api.post("/v1/sms/messages", sms(), { key });
    expect(byId.json.details.template_id).toBe("not a template of this account");
    const byDltId = await api.post(
      "/v1/sms/messages",
      { to: "9876543210", dlt_template_id: "110799999999" },
      { key },
    );
    expect(byDltId.json.details.dlt_template_id).toBe("not a template of this account");
  });

  test("two template ids must name the same template", async () => {
    await using api = await start();
    const { key, templateId } = await liveAccount(api);
    const variables = { "1": "1", "2": "2" };
    const body = sms({ template_id: templateId, variables, dlt_template_id: "110799999999" });
    expect((await api.post("/v1/sms/messages", body, { key })).json.details).toHaveProperty(
      "dlt_template_id",
    );
    const same = { ...body, dlt_template_id: "1107161234567890123" };
    expect((await api.post("/v1/sms/messages", same, { key })).status).toBe(202);
  });

  test("without from the sender that is linked to the template goes out, whichever of the two names the other; else the default", async () => {
    await using api = await start();
    const { key, accountId, templateId } = await liveAccount(api);
    const { id: _, ...otp } = (await api.store.records.find("smsTemplates", { id: templateId }))!;
    const dltTemplateId = "1107161234567890999";
    const { id: named } = await api.add("smsTemplates", { ...otp, dltTemplateId });
    const naming = { ...otp, dltTemplateId: "1107161234567890888", linkedHeaders: ["OTPNEW"] };
    const { id: names } = await api.add("smsTemplates", naming);
    const sender = { accountId, dltEntityId: "1101172974420810001", isDefault: false };
    await api.add("senders", { ...sender, senderId: "LINKED", linkedDltTemplateIds: [dltTemplateId] });
    await api.add("senders", { ...sender, senderId: "OTPNEW" });
    const fromOf = async (template_id: string) => {
      const body = sms({ template_id, variables: { "1": "4821", "2": 5 } });
      const { json } = await api.post("/v1/sms/messages", body, { key });
      return (await api.get(`/v1/sms/messages/${json.message_id}`, { key })).json.from;
    };
    expect([await fromOf(named), await fromOf(names), await fromOf(templateId)]).toEqual([
      "LINKED",
      "OTPNEW",
      "ACMECO",
    ]);
    // Of several that are linked the default, though it is not the first.
    const both = { ...sender, senderId: "BOTH", linkedDltTemplateIds: [dltTemplateId], isDefault: true };
    await api.add("senders", both);
    await api.clock.advance(1_000);
    expect(await fromOf(named)).toBe("BOTH");
  });

  test("the sender of the request goes out, though the template has one of its own", async () => {
    await using api = await start();
    const { key, accountId, templateId } = await liveAccount(api);
    const { id: _, ...otp } = (await api.store.records.find("smsTemplates", { id: templateId }))!;
    const dltEntityId = "1101172974420810001";
    await api.add("senders", { accountId, senderId: "OTPNEW", dltEntityId, isDefault: false });
    const own = { ...otp, dltTemplateId: "1107161234567890777", from: "OTPNEW" };
    const { id: template_id } = await api.add("smsTemplates", own);
    const variables = { "1": "4821", "2": 5 };
    for (const [given, from] of [
      [{ from: "ACMECO" }, "ACMECO"],
      [{}, "OTPNEW"],
    ] as const) {
      const body = sms({ template_id, variables, ...given });
      const { json } = await api.post("/v1/sms/messages", body, { key });
      expect((await api.get(`/v1/sms/messages/${json.message_id}`, { key })).json.from).toBe(from);
    }
  });

  test("an unregistered sender is refused under from", async () => {
    await using api = await start();
    const { key, templateId } = await liveAccount(api);
    const variables = { "1": "1", "2": "2" };
    const body = sms({ template_id: templateId, variables, from: "NOBODY" });
    expect((await api.post("/v1/sms/messages", body, { key })).json.details).toHaveProperty("from");
  });

  test("a template whose own sender is not registered is refused, and sent neither without one nor under another", async () => {
    await using api = await start();
    const { key, accountId, routeId } = await liveAccount(api);
    const { connectorIds = [] } = (await api.store.records.find("routes", { id: routeId })) ?? {};
    await api.add("routes", { accountId, channel: "sms", match: "44", connectorIds });
    const template = { accountId, name: "gone", body: "Hi", from: "GONE" };
    const { id } = await api.add("smsTemplates", template);
    for (const to of ["+919876543210", "+447700900123"]) {
      const { json } = await api.post("/v1/sms/messages", { to, template_id: id }, { key });
      expect(json.details.from).toBe(
        "the template names GONE, which is not a registered sender of this account",
      );
    }
  });

  test("a number that no route leads to is refused under to, in a batch under its index", async () => {
    await using api = await start();
    const { key, templateId } = await liveAccount(api);
    const variables = { "1": "1", "2": "2" };
    const single = sms({ template_id: templateId, variables, to: "+14155550123" });
    expect((await api.post("/v1/sms/messages", single, { key })).json.details.to).toContain("route");
    const batch = sms({ template_id: templateId, variables, to: ["+919876543210", "+14155550123"] });
    const { json } = await api.post("/v1/sms/messages", batch, { key });
    expect(json.details["to.1"]).toContain("route");
  });

  test("a value longer than 40 characters to an Indian number is refused", async () => {
    await using api = await start();
    const { key, templateId } = await liveAccount(api);
    const body = sms({ template_id: templateId, variables: { "1": "x".repeat(41), "2": "5" } });
    expect((await api.post("/v1/sms/messages", body, { key })).json.details).toHaveProperty(["variables.1"]);
  });

  test("a message has its turn beside a batch that was accepted before it", async () => {
    await using api = await start();
    const { key, templateId, routeId } = await liveAccount(api);
    const [single, ...batch] = [0, 1, 2, 3].map((last) => `+91987654321${last}`);
    for (const to of [batch, single]) {
      const body = sms({ to, template_id: templateId, variables: { "1": "4821", "2": 5 } });
      expect((await api.post("/v1/sms/messages", body, { key })).status).toBe(202);
    }
    const line = { queue: routeId, limit: 2, now: api.clock.now(), leaseMs: 60_000 };
    const claimed = await api.store.queue.claim(line);
    expect(claimed.map(({ recipient }) => recipient).toSorted()).toEqual([single!, batch[0]!]);
  });
});
