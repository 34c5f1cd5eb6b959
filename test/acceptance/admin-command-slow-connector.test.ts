import { expect, test } from "bun:test";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { until } from "../until.ts";
import { typeBesideService } from "./typed-commands.ts";

const { text, json, service } = typeBesideService();

test("the list of connectors tells what slows one that is up, as a provider that throttles does", async () => {
  const smsc = await startFakeSmsc();
  smsc.dial.throttle = 1_000_000;
  const smpp = ["--kind", "smpp", "--host", smsc.host, "--port", String(smsc.port), "--system-id", "acme"];
  const { id } = await json("connectors", "create", ...smpp);
  await json("routes", "create", "--channel", "sms", "--connector", id);
  const { account_id: account } = await json("accounts", "create", "--name", "Acme", "--mode", "live");
  const of = ["--account", account];
  const { api_key: key } = await json("keys", "create", ...of);
  await text("senders", "create", ...of, "--sender-id", "ACME", "--default");
  const template = await json("sms-templates", "create", ...of, "--name", "any", "--body", "{#var#}");
  const accepted = await fetch(`${service().url}/v1/sms/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ to: "+14155550123", template_id: template.id, variables: { "1": "Hi" } }),
  });
  expect(accepted.status).toBe(202);
  const row = async () => (await text("connectors", "list")).split("\n").find((line) => line.startsWith(id));
  const reason = /yes +up +health 0\.\d+: throttled \([\d.]+ a second\)/;
  expect(await until(row, (line) => reason.test(line ?? ""))).toMatch(reason);
  await smsc.close();
});
