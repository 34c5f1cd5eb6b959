import { expect, test } from "bun:test";
import { startFakeGateway } from "../../../../test/fakes/fake-gateway.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { httpConnector } from "../../../../test/fakes/http-rig.ts";
import { httpConnectorKind } from "./http-connector.ts";

test("a certificate setting that is no certificate fails the check, not the process", async () => {
  const config = { gateway: { send: { method: "GET", url: "https://127.0.0.1:1/" }, answer: {} } };
  const connector = httpConnector({ provider: "custom", ...config, tls_ca: "hello" });
  const checked = await httpConnectorKind.check(connector, createHeldClock());
  expect(checked).toEqual({ ok: false, detail: "Invalid CA" });
});

test("an answer to a check that does not come ends it in time", async () => {
  const gateway = await startFakeGateway("silent");
  const clock = createHeldClock();
  const twilio = httpConnector(
    { provider: "twilio", base_url: gateway.url, account_sid: "AC1" },
    { auth_token: "t" },
  );
  const checking = httpConnectorKind.check(twilio, clock);
  await gateway.whenRequests(1);
  await clock.advance(12_000);
  expect(await checking).toMatchObject({ ok: false, detail: expect.stringContaining("no answer in time") });
  await gateway.close();
});

test("a check that is sent elsewhere says where, and follows to nobody", async () => {
  const headers = { Location: "https://elsewhere.example/2010-04-01/Accounts/AC1.json?t=s3cret-token" };
  const gateway = await startFakeGateway({ status: 302, body: "<html>", headers });
  const twilio = httpConnector(
    { provider: "twilio", base_url: gateway.url, account_sid: "AC1" },
    { auth_token: "s3cret-token" },
  );
  const { ok, detail } = await httpConnectorKind.check(twilio, createHeldClock());
  expect([ok, detail.replace(/^\S+ /, "")]).toEqual([
    false,
    "answered HTTP 302, redirected to https://elsewhere.example/2010-04-01/Accounts/AC1.json",
  ]);
  expect(gateway.requests).toHaveLength(1);
  await gateway.close();
});
