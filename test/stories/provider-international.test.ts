/** A provider that names a recipient as the wire did, and not as the sender wrote it. */
import { afterEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  let live: LiveEmail;

  afterEach(() => live.close());

  test("word of a recipient in an international domain counts in its ASCII form too", async () => {
    live = await startLiveEmail({ provider: "postmark" });
    const to = [{ email: "ann@bücher.example" }];
    const messages = [await live.send([], { to }), await live.send([], { to })];
    const url = await live.callbackUrl();
    for (const [index, Recipient] of ["Ann@xn--bcher-kva.example", "ann@BÜCHER.example"].entries()) {
      const message = messages[index]!;
      const body = JSON.stringify({ RecordType: "Delivery", Metadata: { postrider: message.id }, Recipient });
      await fetch(url, { method: "POST", body });
      expect(await live.postrider.status(message)).toBe("delivered");
    }
  });
});
