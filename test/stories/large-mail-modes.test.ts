/** Many large emails at once, on a clock that nobody holds, in each of the ways in which the service writes. */
import { expect, test } from "bun:test";
import { LARGE_BODY } from "../../src/core/email/large-body.ts";
import { reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";

onBothStores((store) => {
  const WAYS = store === "sqlite" ? [[], ["--store-thread"], ["--listeners", "2"]] : [[]];

  /** More than are sent at a time: some have to come back. */
  const NAMES = Array.from({ length: 10 }, (_, n) => `ann${n}`);

  for (const args of WAYS) {
    test(`large emails that come at once are all delivered, once each (${args.join(" ") || "as it is"})`, async () => {
      const folder = makeDataFolder();
      const service = await startPostrider({ dataFolder: folder.path, args });
      const { api_key: apiKey } = service.sandbox;
      const accept = async (name: string) => {
        const body = {
          from: { email: "hello@acme.example" },
          to: [{ email: `${name}@example.net` }],
          subject: "News",
          body_text: "Ällis well.\n".repeat(LARGE_BODY / 10),
        };
        const accepted = await send(service, { apiKey, path: "/v1/emails/messages", body });
        expect(accepted.status).toBe(202);
        return { apiKey, path: `/v1/emails/messages/${accepted.body.message_id}` };
      };
      const messages = await Promise.all(NAMES.map(accept));
      for (const message of messages) await reached(service, message, "delivered");
      service.kill("SIGTERM");
      expect(await service.exited).toBe(0);
      folder.remove();
    });
  }
});
