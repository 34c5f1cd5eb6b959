/** An operator tries a receiver: `webhooks test`. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";
import { type TypedCommands, typeInto } from "./typed-commands.ts";

let rig: WebhookRig;
let commands: TypedCommands;
let account: string;

beforeAll(async () => {
  rig = await startWebhookRig();
  commands = typeInto(rig.service.dataFolder);
  account = rig.service.sandbox.account_id;
});
afterAll(() => rig.stop());
beforeEach(() => rig.receiver.behave(BEHAVIOURS.ok));

/** `webhooks test` of the receiver, whatever comes of it. */
const tried = (...options: readonly string[]) =>
  commands.run(["webhooks", "test", "--account", account, "--to", rig.receiver.url(), ...options], {
    POSTRIDER_DATA: rig.service.dataFolder,
  });

test("a test event is delivered at once and signed, and a failure is told and ends with code 1", async () => {
  const before = rig.receiver.deliveries.length;
  expect(await tried()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ok +yes\n[\s\S]*status +200\nanswer +ok\n/m),
  });
  const [delivery] = rig.receiver.deliveries.slice(before);
  expect(delivery?.problem).toBeUndefined();
  expect(JSON.parse(delivery!.body)).toMatchObject({ type: "webhook.test", data: { account_id: account } });
  rig.receiver.behave(BEHAVIOURS.error);
  expect(await tried()).toMatchObject({
    code: 1,
    out: expect.stringMatching(/status +500\nanswer +out of order\n$/),
  });
});

test("a receiver that refuses the test is asked for the two things that make a signature refused", async () => {
  rig.receiver.behave({ kind: "answer", status: 401 });
  const { code, out } = await tried();
  expect([code, out]).toEqual([1, expect.stringMatching(/status +401\n[\s\S]*its secret[\s\S]*clock/)]);
  expect(JSON.parse((await tried("--json")).out)).toMatchObject({ ok: false, status: 401 });
});
