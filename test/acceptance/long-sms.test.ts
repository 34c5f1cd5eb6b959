/** Texts that no handset can be sent: a message has at most 255 segments. */
import { expect, test } from "bun:test";
import { sms } from "./builders.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/sms/messages";
const LONGEST = 255 * 153;
const TOO_LONG = "the text would need more than 255 segments";

async function openWith(api: RunningApi, body: string) {
  const { accountId } = api.caller;
  const { id } = await api.add("smsTemplates", { accountId, name: body.slice(0, 9), body });
  const send = (text: string, over: object = {}) =>
    api.post(PATH, sms({ template_id: id, variables: { "1": text }, ...over }));
  return { id, send };
}

onEveryStore((start) => {
  test("a text of 255 segments is taken, and a longer one refused under variables", async () => {
    await using api = await start();
    const { send } = await openWith(api, "{#var#}");
    expect((await send("x".repeat(LONGEST))).status).toBe(202);
    for (const text of ["x".repeat(LONGEST + 1), "😀".repeat(200_000)]) {
      const { status, json } = await send(text);
      expect([status, json.details]).toEqual([400, { variables: TOO_LONG }]);
      const dry = await send(text, { dry_run: true });
      expect([dry.status, dry.json.would_send]).toEqual([200, false]);
      expect(dry.json.checks[0]).toMatchObject({ check: "variables", details: { variables: TOO_LONG } });
    }
  });

  test("a text is as long as it goes out, where typographic marks are written plainly", async () => {
    await using api = await start();
    const { send } = await openWith(api, "“{#var#}”");
    const text = "x".repeat(30_000);
    const abroad = { to: "+14155550101" };
    expect((await send(text, abroad)).status).toBe(400);
    await api.store.records.setSettings(api.caller.accountId, { sms_transliterate: "true" });
    await api.clock.advance(2_000);
    expect((await send(text, abroad)).status).toBe(202);
    // To Indian numbers the marks of the template stay, as they are registered.
    expect((await send(text, { to: ["+14155550101", "+919812345678"] })).status).toBe(400);
  });

  test("a text that is too long only where typographic marks are written plainly is refused", async () => {
    await using api = await start();
    const { send } = await openWith(api, "{#var#}");
    const text = "…".repeat(255 * 67);
    const abroad = { to: "+14155550101" };
    expect((await send(text, abroad)).status).toBe(202);
    await api.store.records.setSettings(api.caller.accountId, { sms_transliterate: "true" });
    await api.clock.advance(2_000);
    const { status, json } = await send(text, abroad);
    expect([status, json.details]).toEqual([400, { variables: TOO_LONG }]);
    expect((await send(text, { to: ["+919812345678", "+14155550101"] })).status).toBe(400);
  });

  test("a template that is too long by itself is told under its own field", async () => {
    await using api = await start();
    const { id } = await openWith(api, "x".repeat(LONGEST + 1));
    const { status, json } = await api.post(PATH, sms({ template_id: id }));
    expect([status, json.details]).toEqual([400, { template_id: TOO_LONG }]);
  });

  test("a dry run of a long text to very many leaves the service answering others", async () => {
    await using api = await start();
    const { send } = await openWith(api, "{#var#}");
    const to = Array.from({ length: 1000 }, (_, index) => `+1415555${1000 + index}`);
    const answered: string[] = [];
    const dry = send("😀".repeat(8_000), { to, dry_run: true }).then(({ json }) => {
      answered.push("dry run");
      return json;
    });
    for (let i = 0; i < 3; i++) await api.get("/healthz", { key: undefined });
    answered.push("others");
    expect((await dry).messages.map((each: { segments: number }) => each.segments)).toEqual(
      to.map(() => 243),
    );
    expect(answered).toEqual(["others", "dry run"]);
  });
});
