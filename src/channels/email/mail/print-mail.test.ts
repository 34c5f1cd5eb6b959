import { expect, test } from "bun:test";
import fc from "fast-check";
import MailComposer from "nodemailer/lib/mail-composer";
import { printMail } from "./print-mail.ts";

const body = (content: string) => ({ content, contentTransferEncoding: "7bit" as const });

const HEAD = {
  from: { name: "Acme, Inc.", address: "shop@acme.test" },
  to: [{ name: "Ann Ö", address: "ann@example.test" }],
  messageId: "<1@acme.test>",
  date: new Date(0),
  boundaryPrefix: "=_postrider",
  baseBoundary: "1",
};

test("what is put together at once is what the composer's streams come to", async () => {
  const line = fc.stringMatching(/^[ -~]{0,70}$/);
  const text = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join("\r\n"));
  const mail = fc.record({ subject: fc.string(), text, html: fc.option(text, { nil: undefined }) });
  const property = fc.asyncProperty(mail, async ({ subject, text, html }) => {
    const compile = () =>
      new MailComposer({
        ...HEAD,
        subject,
        ...(text && { text: body(text) }),
        ...(html && { html: body(html) }),
      }).compile();
    expect((await printMail(compile())).toString()).toBe((await compile().build()).toString());
  });
  await fc.assert(property, { numRuns: 300 });
});
