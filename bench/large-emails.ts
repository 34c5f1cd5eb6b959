/**
 * Sends emails as large as the interface takes, without end, from a process of its own:
 * `bun bench/large-emails.ts <url> <key> <a second> <line of their text>`. The recipients are `large<n>@example.net`.
 */
export {};

const LARGE = 10 * 1024 * 1024 - 1_024;

const [url = "", key = "", perSecond = "", line = ""] = process.argv.slice(2);
// A line end takes two octets in JSON.
const text = line.repeat(Math.floor(LARGE / (Buffer.byteLength(JSON.stringify(line)) - 2)));
const [head = "", tail = ""] = JSON.stringify({
  from: { email: "hello@acme.example" },
  to: [{ email: "large{n}@example.net" }],
  subject: "News",
  body_text: text,
}).split("{n}");
const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };

let sent = 0;
async function stream(): Promise<void> {
  for (;;) {
    const body = `${head}${sent++}${tail}`;
    const { status } = await fetch(`${url}/v1/emails/messages`, { method: "POST", headers, body });
    if (status !== 202) throw new Error(`an email was answered ${status}`);
    await Bun.sleep(1_000);
  }
}
await Promise.all(Array.from({ length: Number(perSecond) }, stream));
