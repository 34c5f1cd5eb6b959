import { type GatewayAnswer, startFakeGateway } from "../../../../test/fakes/fake-gateway.ts";
import { httpConnector, openHttpRig, outgoingSms, partsOf } from "../../../../test/fakes/http-rig.ts";
import { channelContract } from "../../channel.contract.ts";

const ANSWERS: Readonly<Record<"accept" | "defer" | "reject", GatewayAnswer>> = {
  accept: { status: 200, body: { id: "a-1" } },
  defer: { status: 503, body: "later" },
  reject: { status: 400, body: "never" },
};

channelContract("http", async () => {
  const gateway = await startFakeGateway(ANSWERS.accept);
  const connector = httpConnector({
    provider: "custom",
    gateway: {
      send: { url: `${gateway.url}/send`, json: { to: "{{to}}", text: "{{text}}" } },
      answer: { id: { json: "/id" } },
    },
  });
  const { channel, clock, statuses } = openHttpRig(connector, { isStarted: false });
  return {
    channel,
    statuses,
    isWhole: true,
    message: (parts) => outgoingSms({ parts: parts ? partsOf(...parts) : partsOf("pending", "pending") }),
    whenUp: async () => {},
    behave: (as) => gateway.behave(as === "silent" ? "silent" : ANSWERS[as]),
    release: () => gateway.release(ANSWERS.accept),
    whenHanded: gateway.whenRequests,
    handed: () => gateway.requests.length,
    elapse: clock.advance,
    async close() {
      const stopping = channel.stop();
      await gateway.close();
      await stopping;
    },
  };
});
