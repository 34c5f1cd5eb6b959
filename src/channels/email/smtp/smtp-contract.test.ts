import { startObedientSmtp } from "../../../../test/fakes/obedient-smtp.ts";
import { openSmtpRelay, smtpConnector } from "../../../../test/fakes/smtp-relay.ts";
import { channelContract } from "../../channel.contract.ts";

channelContract("smtp", async () => {
  const server = await startObedientSmtp();
  const { channel, clock, seen, became } = openSmtpRelay(smtpConnector(server.port), { isStarted: false });
  return {
    ...server,
    channel,
    statuses: seen,
    whenUp: () => became("up"),
    elapse: clock.advance,
    async close() {
      await server.close();
      await channel.stop();
    },
  };
});
