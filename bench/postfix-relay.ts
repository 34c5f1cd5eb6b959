/**
 * Debian's Postfix as the relay: it is asked for a DSN, hands one recipient to a sink and is refused the other, and
 * both reports come back to our bounce listener and make them `delivered` and `bounced`. What reached the sink is given
 * to DKIM verifiers that others wrote: mailauth, and dkimpy where it is installed (`apt-get install python3-dkim`).
 *
 *   bun bench/postfix-relay.ts
 *
 * Needs `apt-get install postfix` and root. Ends with 1 where something does not hold.
 */
import { admin, reached, send } from "../test/admin.ts";
import { startFakeSmtp } from "../test/fakes/fake-smtp.ts";
import { missingForPostfix, startOurs, startPostfix } from "./mail-gateways.ts";
import { freePorts } from "./ports.ts";
import { heading } from "./report.ts";
import { dkimpyVerdicts, verdicts } from "./verify-dkim.ts";

console.log(heading("Postfix as the relay"));
const missing = missingForPostfix();
if (missing) {
  console.log(`NOT run: ${missing}`);
  process.exit(1);
}

const [bouncePort = 0] = await freePorts(1);
const far = await startFakeSmtp();
far.dial.rcpt = { "bob@example.net": { code: 550, text: "5.1.1 no such user" } };
const postfix = await startPostfix({
  sinkPort: far.port,
  // Only our return paths come back to us, over a route of their own.
  settings: `transport_maps = inline:{ bounce.acme.example=smtp:[127.0.0.1]:${bouncePort} }\n`,
});
const ours = await startOurs({
  relayPort: postfix.port,
  isSigned: true,
  env: { BOUNCE_PORT: String(bouncePort) },
  returnPathHost: "bounces.postrider.example",
});
let failures = 0;
try {
  await run();
} finally {
  await ours.stop();
  await postfix.stop();
  await far.close();
}
process.exit(failures === 0 ? 0 : 1);

async function run(): Promise<void> {
  const delivered = await sendTo("ann");
  check("a success DSN makes it delivered", delivered === "delivered", delivered);
  const bounced = await sendTo("bob");
  check("a failure DSN makes it bounced", bounced === "bounced", bounced);
  const list = await admin<{ data: { email: string; reason: string }[] }>(ours.service, "/suppressions");
  const isKept = list.data.some(
    ({ email, reason }) => email === "bob@example.net" && reason === "hard_bounce",
  );
  check("a hard bounce is on the suppression list", isKept);
  const { raw } = await far.mail(0);
  for (const { name, holds } of await verdicts(raw, ours.zone)) check(name, holds);
  const others = await dkimpyVerdicts(raw, ours.zone);
  for (const { name, holds } of others ?? []) check(name, holds);
  if (!others) console.log("NOT run: dkimpy is not installed (Debian: apt-get install python3-dkim)");
}

async function sendTo(name: string): Promise<string> {
  const { apiKey, service } = ours;
  const { body, status } = await send(service, {
    apiKey,
    path: "/v1/emails/messages",
    body: {
      from: { email: "hello@acme.example", name: "Acme" },
      to: [{ email: `${name}@example.net` }],
      subject: "Ihre Bestellung für heute",
      body_text: "All is well.\n.\n\nTrailing blanks \t\n\n",
      body_html: "<p>All is well.</p>",
    },
  });
  if (status !== 202) throw new Error(JSON.stringify(body));
  const message = { apiKey, path: `/v1/emails/messages/${body.message_id}` };
  const late = Bun.sleep(30_000).then(() => ({ status: "no word within 30 s" }));
  return String(
    (await Promise.race([reached(service, message, "delivered", "bounced", "failed"), late])).status,
  );
}

function check(what: string, holds: boolean, found = ""): void {
  if (!holds) failures++;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds || !found ? "" : `: ${found}`}`);
}
