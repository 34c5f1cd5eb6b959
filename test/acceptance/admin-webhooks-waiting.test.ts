/** A receiver was down for hours and is back: what waits for its next try, in up to a day, need not wait that long. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";
import { type TypedCommands, typeInto } from "./typed-commands.ts";

let rig: WebhookRig;
let commands: TypedCommands;

beforeAll(async () => {
  rig = await startWebhookRig();
  commands = typeInto(rig.service.dataFolder);
});
afterAll(() => rig.stop());

test("what waits for its next try is delivered at once if an operator says so, in order, and nothing else is", async () => {
  const id = await rig.sms();
  await rig.until(id, ["delivered", "delivered"]);
  rig.receiver.behave(BEHAVIOURS.error);
  const late = await rig.sms();
  await rig.until(late, ["waiting", "waiting"]);
  rig.receiver.behave(BEHAVIOURS.ok);
  const before = rig.receiver.deliveries.length;
  const replay = ["webhooks", "replay", "--account", rig.service.sandbox.account_id, "--host"];
  const host = rig.receiver.url();
  expect(await commands.json(...replay, host, "--failed")).toEqual({ replayed: 0 });
  expect(await commands.json(...replay, host, "--waiting")).toEqual({ replayed: 2 });
  // Not by the schedule, whose next try comes a minute after the second.
  await rig.service.passUntil(() => rig.receiver.deliveries.length === before + 2, 20_000);
  const told = rig.receiver.deliveries.slice(before).map(({ headers }) => headers["webhook-id"]);
  expect(told).toEqual([`evt_${late}_1`, `evt_${late}_2`]);
});

test("failed events or waiting ones: not both", async () => {
  const account = rig.service.sandbox.account_id;
  const both = ["webhooks", "replay", "--account", account, "--host", "x.test", "--failed", "--waiting"];
  const { code, err } = await commands.run(both);
  expect([code, err]).toEqual([1, "error: validation failed\n  --waiting: not together with failed\n"]);
});
