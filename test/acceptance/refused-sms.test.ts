/** All that is wrong with a body is told at once, also what only the account's records know. */
import { expect, test } from "bun:test";
import { liveAccount, sms } from "./builders.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/sms/messages";
const LATE = "2020-01-01T00:00:00Z";
const INDIAN = "+919876543210";
const NOWHERE = "+14155550123";

/** The details of what a live account, or the sandbox, is refused. */
async function openLive(api: RunningApi) {
  const live = await liveAccount(api);
  const good = { template_id: live.templateId, variables: { "1": "4821", "2": 5 } };
  const refused = async (over: object, key = live.key): Promise<Record<string, string>> => {
    const { status, json } = await api.post(PATH, sms({ ...good, ...over }), { key });
    expect(status).toBe(400);
    const dry = await api.post(PATH, sms({ ...good, ...over, dry_run: true }), { key });
    expect(dry.status).toBe(400);
    expect(dry.json).toEqual(json);
    return json.details;
  };
  return { ...live, refused };
}

/** A route to `NOWHERE` that only messages from another sender take. */
async function addRouteOfOther(api: RunningApi, accountId: string): Promise<void> {
  const [route] = await api.store.records.list("routes", { accountId, channel: "sms" }, { limit: 1 });
  const { connectorIds } = route!;
  await api.add("routes", { accountId, channel: "sms", match: "1", sender: "OTHER", connectorIds });
}

const NO_SENDER = "the account, or from one of its senders, and no sender is named";

onEveryStore((start) => {
  test("of a batch's bad entries the first 20 are listed, in the order of the batch, whatever is wrong with each", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    const to = Array.from({ length: 45 }, (_, index) => [NOWHERE, INDIAN, "x", INDIAN, null][index % 5]);
    const details = await refused({ to });
    const bad = to.flatMap((entry, index) => (entry === INDIAN ? [] : [`to.${index}`]));
    expect(Object.keys(details).filter((name) => name.startsWith("to."))).toEqual(bad.slice(0, 20));
    expect(details.to).toContain("18 of 45");
    expect(details.to).toContain("9 of 45");
  });

  test("an unknown template, sender and entity are told along with what is wrong with the body itself", async () => {
    await using api = await start();
    const { accountId, refused } = await openLive(api);
    expect(await refused({ template_id: sms().template_id, from: "NOBODY", schedule_at: LATE })).toEqual({
      schedule_at: "must be in the future",
      template_id: "not a template of this account",
      from: "is not a registered sender of this account",
    });
    expect((await refused({ from: "VM-ACMECO-S", schedule_at: LATE })).from).toEndWith(
      ": send the bare header ACMECO, operators add what stands round it",
    );
    const unknownId = { template_id: undefined, dlt_template_id: "110799999999", tags: [""] };
    expect(await refused(unknownId)).toMatchObject({
      tags: expect.any(String),
      dlt_template_id: "not a template of this account",
    });
    await api.add("dltEntities", {
      accountId,
      entityId: "1101172974420810001",
      name: "Acme",
      status: "approved",
    });
    expect(await refused({ dlt_entity_id: "110100000000", expire_after_seconds: 4 })).toEqual({
      expire_after_seconds: "must be from 5 to 86400",
      dlt_entity_id: "is not the entity the template is registered under",
      from: "is registered under another DLT entity",
    });
  });

  test("what is wrong with a template is told under the field that names it", async () => {
    await using api = await start();
    const { accountId, key } = await liveAccount(api);
    const ids = { dltTemplateId: "1107161234567890999", dltEntityId: "1101172974420810001" };
    const pending = { accountId, name: "pending", body: "Hi", status: "pending", ...ids } as const;
    const { id: template_id } = await api.add("smsTemplates", pending);
    const detailsOf = async (named: object) =>
      (await api.post(PATH, { to: INDIAN, ...named }, { key })).json.details;
    const reason = "is pending on the DLT portal";
    expect(await detailsOf({ template_id })).toEqual({ template_id: reason });
    expect(await detailsOf({ dlt_template_id: pending.dltTemplateId })).toEqual({ dlt_template_id: reason });
  });

  test("an unknown sender is told along with a template_id that is none", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    expect(await refused({ template_id: "x", from: "NOBODY" })).toEqual({
      template_id: "must be a UUID",
      from: "is not a registered sender of this account",
    });
  });

  test("that the routes to a number are other senders' is told along with the rest", async () => {
    await using api = await start();
    const { accountId, refused } = await openLive(api);
    await addRouteOfOther(api, accountId);
    expect(await refused({ to: NOWHERE, schedule_at: LATE })).toEqual({
      schedule_at: "must be in the future",
      to: "no route of the account leads to this number",
    });
  });

  test("an unknown template and sender are told also where no number is one", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    const unknown = { template_id: undefined, dlt_template_id: "110799999999", from: "NOBODY" };
    for (const to of ["12", "", ["12"], [], undefined]) {
      expect(await refused({ ...unknown, to })).toMatchObject({
        to: expect.any(String),
        dlt_template_id: "not a template of this account",
        from: "is not a registered sender of this account",
      });
    }
  });

  test("variables that the template needs are told along with the rest", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    const late = { schedule_at: LATE };
    const missing = "required by the template";
    expect(await refused({ ...late, variables: { "1": "4821" } })).toHaveProperty(["variables.2"], missing);
    expect(await refused({ ...late, variables: undefined })).toEqual({
      schedule_at: "must be in the future",
      "variables.1": missing,
      "variables.2": missing,
    });
    expect(await refused({ variables: { "1": true, name: "Asha" } })).toEqual({
      "variables.1": "must be a string or a number",
      variables: expect.stringContaining("numeric strings"),
      "variables.2": missing,
    });
    expect(await refused({ ...late, variables: { "1": "x".repeat(41), "2": "5" } })).toHaveProperty([
      "variables.1",
    ]);
  });

  test("in a batch each bad entry is told under its own index, and each kind of problem in a sentence", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    expect(await refused({ to: ["12", INDIAN, NOWHERE, 5, NOWHERE], schedule_at: LATE })).toEqual({
      schedule_at: "must be in the future",
      to:
        "invalid phone number in 2 of 5 entries: expected E.164 format, for example +919876543210; " +
        "no route of the account leads to 2 of 5 numbers",
      "to.0": expect.stringContaining("invalid phone number"),
      "to.2": "no route of the account leads to this number",
      "to.3": "must be a string",
      "to.4": "no route of the account leads to this number",
    });
  });

  test("who has opted out is told along with the rest, in a sandbox too", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    await api.add("optOuts", { accountId, recipient: INDIAN, reason: "asked" });
    const { refused } = await openLive(api);
    expect(await refused({ to: ["12", INDIAN], template_id: "x" }, api.caller.key)).toEqual({
      template_id: "must be a UUID",
      to:
        "invalid phone number in 1 of 2 entries: expected E.164 format, for example +919876543210; " +
        `1 of 2 recipients have opted out of messages from ${NO_SENDER}`,
      "to.0": expect.stringContaining("invalid phone number"),
      "to.1": `has opted out of messages from ${NO_SENDER}`,
    });
  });

  test("nothing is told that mending the body might disprove", async () => {
    await using api = await start();
    const { accountId, refused } = await openLive(api);
    await addRouteOfOther(api, accountId);
    expect(Object.keys(await refused({ from: "x".repeat(21), to: NOWHERE }))).toEqual(["from"]);
    expect(Object.keys(await refused({ from: "\u0000" }))).toEqual(["from"]);
    expect(Object.keys(await refused({ template_id: "x", variables: {} }))).toEqual(["template_id"]);
    const named = { dlt_template_id: "1107161234567890123", variables: {} };
    expect(Object.keys(await refused({ ...named, template_id: "x" }))).toEqual(["template_id"]);
    expect(Object.keys(await refused({ variables: "none" }))).toEqual(["variables"]);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [String(index + 1), "x"]));
    expect(Object.keys(await refused({ variables: many }))).toEqual(["variables"]);
  });

  test("ids that are none are looked up nowhere", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    const odd = { template_id: "\u0000", dlt_template_id: "\u0000", dlt_entity_id: "\u0000", from: "\ud800" };
    expect(Object.keys(await refused(odd)).sort()).toEqual(Object.keys(odd).sort());
    expect(Object.keys(await refused(odd, api.caller.key)).sort()).toEqual(Object.keys(odd).sort());
  });
});
