/** A caller's header values, folded into a mail: what follows them still belongs to the header. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  let live: LiveEmail;

  beforeEach(async () => {
    live = await startLiveEmail();
  });

  afterEach(() => live.close());

  test("blanks of any kind and number in header values end no header", async () => {
    const id = `<${"a".repeat(70)}\u00a0${"b".repeat(70)}@example.net>`;
    await live.send(["ann"], {
      from: { email: "hello@acme.example", name: `Acme${" ".repeat(200)}Shop` },
      subject: `${"s".repeat(66)}   `,
      headers: { "In-Reply-To": id, References: id, "X-Note": `one${" ".repeat(200)}two   ` },
    });
    const [mail] = live.relay.received;
    const header = mail?.raw.slice(0, mail.raw.indexOf("\r\n\r\n")) ?? "";
    expect(header.split("\r\n").filter((line) => !/^(?:[!-9;-~]+:|[ \t]+[^ \t])/.test(line))).toEqual([]);
    expect(mail?.parsed).toMatchObject({ subject: "s".repeat(66), text: "All is well.\n" });
    expect(mail?.parsed.from).toEqual({ address: "hello@acme.example", name: "Acme Shop" });
    expect(mail?.parsed.headers.find(({ key }) => key === "x-note")?.value).toBe("one two");
  });

  test("a header value that fits no line is refused at once, and the longest that fits is sent", async () => {
    const { status, body } = await live.ask(["ann"], {
      headers: { "X-Long": "x".repeat(998), "In-Reply-To": "i".repeat(996), References: "é".repeat(498) },
    });
    const problem = "has a word that is too long for a line of 998 octets";
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        details: {
          "headers.X-Long": problem,
          "headers.In-Reply-To": problem,
          "headers.References": problem,
        },
      },
    });
    const headers = {
      "X-Long": "x".repeat(997),
      "X-Words": "é".repeat(998),
      "In-Reply-To": "i".repeat(995),
      References: "é".repeat(497),
    };
    const message = await live.send(["ann"], { headers });
    expect(await live.postrider.status(message)).toBe("sent");
  });
});
