import { openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { startObedientSmtp } from "../../../../test/fakes/obedient-smtp.ts";
import { channelContract } from "../../channel.contract.ts";

channelContract("mx", async () => {
  const server = await startObedientSmtp();
  const rig = await openMxRig({ port: server.port, isStarted: false });
  rig.host("example.test", "mx.example.test");
  return {
    ...server,
    channel: rig.channel,
    statuses: rig.statuses,
    whenUp: async () => {},
    elapse: rig.clock.advance,
    async close() {
      await server.close();
      await rig.close();
    },
  };
});
