/** An account's international domain, and mail that names it in the other spelling. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

const UNICODE = "bücher.example";
const ASCII = "xn--bcher-kva.example";

onBothStores(() => {
  let live: LiveEmail;

  afterEach(() => live.close());

  async function register(domain: string): Promise<void> {
    const { postrider, dns, account } = live;
    const { domain_id, records } = await admin<{
      domain_id: string;
      records: { type: string; name: string; value: string }[];
    }>(postrider, "/domains", { account_id: account.accountId, domain });
    for (const { type, name, value } of records) (type === "TXT" ? dns.txt : dns.cname).set(name, value);
    expect(await admin(postrider, `/domains/${domain_id}/verify`, {})).toMatchObject({ verified: true });
  }

  test.each([
    [UNICODE, ASCII],
    [ASCII, UNICODE],
  ])(
    "registered as %s, mail from %s is accepted, signed and comes back by its return path",
    async (registered, sent) => {
      live = await startLiveEmail();
      await register(registered);
      const mail = await live.send(["ann"], { from: { email: `hello@${sent}` } });
      // The relay's library shows domains in Unicode.
      expect(mail.returnPath(0)).toEndWith(`@bounce.${UNICODE}`);
      const raw = live.relay.received.at(-1)?.raw ?? "";
      expect(raw.match(/^DKIM-Signature:/gm)).toHaveLength(2);
      expect(raw.match(/^ d=.*?;/gm)).toEqual([` d=${ASCII};`, ` d=${ASCII};`]);
    },
  );
});
