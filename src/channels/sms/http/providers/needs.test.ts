/** What each provider needs of a connector and of a message, and where it is asked. */
import { expect, test } from "bun:test";
import { startFakeGateway } from "../../../../../test/fakes/fake-gateway.ts";
import { httpConnector, never, openHttpRig, outgoingSms } from "../../../../../test/fakes/http-rig.ts";
import { readHttpConfig } from "../http-config.ts";
import { httpConnectorKind } from "../http-connector.ts";
import { gatewayOf } from "../providers.ts";

/** `host`: of its public interface; none where the operator has to name it. */
const PROVIDERS = {
  gupshup: {
    config: { userid: "1" },
    secrets: { password: "p" },
    host: "enterprise.smsgupshup.com",
    needs: ["text"],
  },
  infobip: { config: { base_url: "" }, secrets: { api_key: "k" }, host: undefined, needs: ["text"] },
  kannel: {
    config: { base_url: "", username: "a" },
    secrets: { password: "p" },
    host: undefined,
    needs: ["text"],
  },
  msg91: { config: {}, secrets: { authkey: "k" }, host: "control.msg91.com", needs: [] },
  plivo: {
    config: { auth_id: "MA1" },
    secrets: { auth_token: "t" },
    host: "api.plivo.com",
    needs: ["text", "from"],
  },
  twilio: {
    config: { account_sid: "AC1" },
    secrets: { auth_token: "t" },
    host: "api.twilio.com",
    needs: ["text", "from"],
  },
  vonage: {
    config: {},
    secrets: { api_key: "k", api_secret: "s" },
    host: "rest.nexmo.com",
    needs: ["text", "from"],
  },
} as const;

for (const [provider, { config, secrets, host, needs }] of Object.entries(PROVIDERS)) {
  test(`${provider} is asked at its own address, and is missing every setting that it needs`, () => {
    const missing = httpConnectorKind.problems?.({ config: { provider }, secrets: {} });
    expect(Object.keys(missing ?? {}).sort()).toEqual(
      [...Object.keys(config), ...Object.keys(secrets)].sort(),
    );
    const read = readHttpConfig({ name: "", config: { provider, ...config, base_url: undefined } });
    if (read instanceof Error) throw read;
    const url = gatewayOf(read, secrets)?.send.url ?? "";
    expect(/^https:\/\/([^/]+)\//.exec(url)?.[1]).toBe(host as string);
  });

  test(`${provider} is not asked to send a message that lacks what it needs`, async () => {
    const gateway = await startFakeGateway();
    const settings = { ...config, provider, base_url: gateway.url };
    const { channel } = openHttpRig(httpConnector(settings, secrets));
    const { text: _, from: __, ...bare } = outgoingSms();
    const { text: ___, ...content } = bare.content;
    for (const name of needs) {
      const whole = { ...bare, text: "Hello", from: "ACMEIN", content };
      const { [name]: ____, ...lacking } = whole;
      expect((await channel.send(lacking, never)).parts).toMatchObject([
        {
          kind: "rejected",
          error: { code: "http.missing_value", message: expect.stringContaining(` ${name},`) },
        },
      ]);
    }
    expect(gateway.requests).toEqual([]);
    await channel.stop();
    await gateway.close();
  });
}

test("a Messaging Service that chooses the sender needs none", async () => {
  const gateway = await startFakeGateway({ status: 201, body: { sid: "SM1" } });
  const settings = {
    provider: "twilio",
    account_sid: "AC1",
    messaging_service_sid: "MG1",
    base_url: gateway.url,
  };
  const { channel } = openHttpRig(httpConnector(settings, { auth_token: "t" }));
  const { from: _, ...message } = outgoingSms();
  expect((await channel.send(message, never)).parts[0]?.kind).toBe("sent");
  const { text: __, ...bare } = message;
  const { text: ___, ...content } = message.content;
  expect((await channel.send({ ...bare, content }, never)).parts[0]?.kind).toBe("rejected");
  expect(gateway.requests.length).toBe(1);
  await channel.stop();
  await gateway.close();
});

test("infobip is asked for JSON", async () => {
  const gateway = await startFakeGateway({ status: 200, body: { messages: [{ messageId: "1" }] } });
  const { channel } = openHttpRig(
    httpConnector({ provider: "infobip", base_url: gateway.url }, { api_key: "k" }),
  );
  expect((await channel.send(outgoingSms(), never)).parts[0]?.kind).toBe("sent");
  expect(gateway.requests[0]?.headers.accept).toBe("application/json");
  await channel.stop();
  await gateway.close();
});
