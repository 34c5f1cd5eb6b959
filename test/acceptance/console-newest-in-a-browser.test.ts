/** Lists of the web console, in a real browser: what is new comes first, and a row says how it ended. */
import { beforeEach, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { admin, reached, send } from "../admin.ts";
import { browserConsole, type Console } from "../browser-console.ts";
import type { PostriderProcess } from "../postrider-process.ts";
import { until } from "../until.ts";

const opened = browserConsole();
let service: PostriderProcess;
let page: Page;
let complaints: readonly string[];
let go: Console["go"];
let heading: Console["heading"];

beforeEach(async () => {
  ({ service } = opened);
  ({ page, complaints, go, heading } = await opened.signedIn());
});

/** Resolves with its id, once it is delivered, or `status`. */
async function sendSms(to: string, more: object = {}, status = "delivered"): Promise<string> {
  const apiKey = service.sandbox.api_key;
  const path = "/v1/sms/messages";
  const { body } = await send(service, {
    apiKey,
    path,
    body: { to, dlt_template_id: "1107160000000000001", ...more },
  });
  const id = String(body.message_id);
  await reached(service, { apiKey, path: `${path}/${id}` }, status);
  return id;
}

test("the sandbox begins with what it was given last, and goes on page by page to the first", async () => {
  const numbers = Array.from({ length: 51 }, (_, n) => `+141555501${String(n).padStart(2, "0")}`);
  await Promise.all(numbers.slice(0, 50).map((to) => sendSms(to)));
  await sendSms(numbers[50] ?? "");
  await go("sandbox");
  const shown = () => page.locator(".given summary").allTextContents();
  const first = await until(shown, ({ length }) => length === 50);
  expect(first[0]).toContain(numbers[50] ?? "");
  await page.getByRole("link", { name: "Next page" }).click();
  const rest = await until(shown, ({ length }) => length === 1);
  expect([...first, ...rest].filter((text) => text.includes("+141555501"))).toHaveLength(51);
  await page.getByRole("link", { name: "First page" }).click();
  await until(shown, ({ length }) => length === 50);
  expect(complaints).toEqual([]);
});

/** Its rows, newest first, of a list that has one more than fit on its page. */
async function expectNewestFirst(region: string, isNewest: (row: string) => boolean): Promise<void> {
  const rows = page.getByRole("region", { name: region }).locator("tbody tr");
  const shown = () => rows.allTextContents();
  const first = await until(shown, ({ length }) => length === 50);
  expect(first.map(isNewest)).toEqual([true, ...Array<boolean>(49).fill(false)]);
  await page.getByRole("link", { name: "Next page" }).click();
  const rest = await until(shown, ({ length }) => length === 1);
  expect(rest.map(isNewest)).toEqual([false]);
  await page.getByRole("link", { name: "First page" }).click();
  await until(shown, ({ length }) => length === 50);
}

test("parked receipts begin with the one that came last, and go on page by page to the first", async () => {
  const config = { provider: "kannel", base_url: "http://127.0.0.1:9", username: "u", password: "p" };
  const made = await admin<{ id: string; callback_path: string }>(service, "/connectors", {
    kind: "http",
    name: "kannel",
    config,
  });
  const report = async (id: string) => {
    const { status } = await fetch(`${service.url}${made.callback_path}?id=${id}&status=1`);
    expect(status).toBe(200);
  };
  await Promise.all(Array.from({ length: 50 }, (_, n) => report(`lost-${n}`)));
  await report("the-last");
  await go("receipts");
  await expectNewestFirst("Parked receipts", (row) => row.includes("the-last"));
  const { id: quiet } = await admin<{ id: string }>(service, "/connectors", { kind: "mx", name: "quiet" });
  // Also if it is beyond those that are offered.
  await page.route("**/admin/v1/connectors?limit=500", (asked) => asked.fulfill({ json: { data: [] } }));
  await go(`receipts?connector_id=${quiet}`);
  await page.getByText("No receipts of this connector are parked.").waitFor();
  expect(await page.locator("#filter-connector_id").inputValue()).toBe(quiet);
  await go(`connectors/${made.id}`);
  await page.locator("dd", { hasText: made.callback_path }).waitFor();
  expect(complaints).toEqual([]);
});

test("erasures begin with the one that came last, and go on page by page to the first", async () => {
  const ask = (recipient: string, more: object = {}) => admin(service, "/erasures", { recipient, ...more });
  const numbers = Array.from({ length: 50 }, (_, n) => `+919800000${String(n).padStart(3, "0")}`);
  await Promise.all(numbers.map((number) => ask(number)));
  const { account_id } = service.sandbox;
  await ask("last@example.net", { account_id });
  await go("erasures");
  await expectNewestFirst("Erasures", (row) => !row.includes("all accounts"));
  expect(complaints).toEqual([]);
});

test("the list of messages has the code of the error of each that has failed, and in words on hovering", async () => {
  await sendSms("+15005550001", {}, "undelivered");
  await go("messages");
  await heading("Messages");
  const row = page.getByRole("row", { name: "+15005550001" });
  const time = await row.locator("time").boundingBox();
  const number = await row.getByRole("link").boundingBox();
  // On one line, as the time is.
  expect(number?.height).toBe(time?.height ?? 0);
  await row.getByText("receipt.undeliv").waitFor();
  expect(await row.getByText("receipt.undeliv").getAttribute("title")).toBe(
    "the SMSC reported UNDELIV (simulated)",
  );
  // Also in a narrow window both are seen at once.
  await page.setViewportSize({ width: 360, height: 800 });
  const list = await page.getByRole("region", { name: "Messages" }).boundingBox();
  for (const part of [row.getByText("undelivered"), row.getByText("receipt.undeliv")]) {
    const box = await part.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 400)).toBeLessThanOrEqual((list?.x ?? 0) + (list?.width ?? 0));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(complaints).toEqual([]);
});

test("an address of ordinary length stays on one line, however long the subject beside it", async () => {
  const email = "firstname.lastname@company.example";
  const subject = "Your order has been shipped. ".repeat(20);
  const body = { from: { email: "a@example.com" }, to: [{ email }], subject, body_text: "Hello" };
  await send(service, { apiKey: service.sandbox.api_key, path: "/v1/emails/messages", body });
  await page.setViewportSize({ width: 1280, height: 800 });
  await go("messages?channel=email");
  await heading("Messages");
  const row = page.getByRole("row", { name: email });
  const heightOf = async (part: Locator) => (await part.boundingBox())?.height;
  expect(await heightOf(row.getByRole("link"))).toBe(await heightOf(row.locator("time")));
  await row.getByRole("link").click();
  const recipient = page.getByRole("region", { name: "Recipients" }).getByRole("row", { name: email });
  const [address, role] = [recipient.getByText(email), recipient.getByText("to", { exact: true })];
  expect(await heightOf(address)).toBeLessThan(1.5 * ((await heightOf(role)) ?? 0));
  expect(complaints).toEqual([]);
});

test("a list of messages stays narrowed on its next page, and by the times that were typed", async () => {
  await sendSms("+14155550301", { tags: ["narrow"] });
  await sendSms("+15005550001", { tags: ["narrow"] }, "undelivered");
  await sendSms("+14155550302", { tags: ["narrow"] });
  const numbers = () => page.getByRole("region", { name: "Messages" }).getByRole("link").allTextContents();
  await go("messages?tag=narrow&status=delivered&limit=1");
  expect(await until(numbers, ({ length }) => length === 1)).toEqual(["+14155550302"]);
  await page.getByRole("link", { name: "Next page" }).click();
  expect(await until(numbers, ([first]) => first !== "+14155550302")).toEqual(["+14155550301"]);
  const after = page.getByLabel("Created after");
  await after.fill("2038-01-01T00:00:07");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("No such messages. They are kept for 7 days.").waitFor();
  expect(await after.inputValue()).toBe("2038-01-01T00:00:07");
  const shown = new URLSearchParams((await page.evaluate<string>("location.hash")).split("?")[1]);
  expect(new Date(shown.get("created_after") ?? "")).toEqual(new Date("2038-01-01T00:00:07"));
  expect([shown.get("tag"), shown.get("status")]).toEqual(["narrow", "delivered"]);
  expect(complaints).toEqual([]);
});

test("what a list is narrowed by is not taken for something typed: it goes with the narrowing", async () => {
  const after = page.getByLabel("Created after");
  const recipient = page.getByLabel("Recipient");
  await go("messages?created_after=2038-01-01T00:00:00.000Z");
  await page.getByText("No such messages. They are kept for 7 days.").waitFor();
  expect(new Date(await after.inputValue())).toEqual(new Date("2038-01-01T00:00:00.000Z"));
  await recipient.fill(" +14155550399 ");
  await page.getByRole("button", { name: "Show" }).click();
  const isShown = "location.hash.includes('14155550399') && !document.querySelector('main[aria-busy]')";
  await until(() => page.evaluate<boolean>(isShown));
  await page.getByRole("navigation").getByRole("link", { name: "Messages" }).click();
  await page.locator("main tbody tr").first().waitFor();
  expect([await after.inputValue(), await recipient.inputValue()]).toEqual(["", ""]);
  expect(complaints).toEqual([]);
});

test("webhooks begin with the newest event, say how the last delivery ended, and each how it stands", async () => {
  const callback_url = "https://127.0.0.1/hook";
  const older = await sendSms("+14155550201", { callback_url });
  const newer = await sendSms("+14155550202", { callback_url });
  const state = async (id: string) =>
    (await admin<{ data: { state: string }[] }>(service, `/webhooks?message_id=${id}`)).data[0]?.state;
  for (const id of [older, newer]) {
    await until(
      () => state(id),
      (found) => found === "waiting",
    );
  }
  await go("webhooks");
  const rows = page.getByRole("region", { name: "Events" }).locator("tbody tr");
  const texts = await until(
    () => rows.allTextContents(),
    ({ length }) => length === 4,
  );
  expect(texts.map((text) => text.includes(newer))).toEqual([true, true, false, false]);
  expect(texts[1]).toContain("(refused_address)");
  await rows.nth(1).getByRole("link", { name: "sms.sent" }).click();
  await heading("Event");
  const event = await page.locator("main").innerText();
  for (const part of ["waiting", "sms.sent", "127.0.0.1", `evt_${newer}_1`, "(refused_address)"])
    expect(event).toContain(part);
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("Queued for delivery again").waitFor();
  const again = () => admin<{ attempts: number }>(service, `/webhooks/evt_${newer}_1`);
  await until(again, ({ attempts }) => attempts > 1);
  await go(`messages/${older}`);
  await page.getByRole("link", { name: "Events of this message" }).click();
  await heading("Webhooks");
  expect((await rows.allTextContents()).map((text) => text.includes(older))).toEqual([true, true]);
  expect(complaints).toEqual([]);
});

test("events are narrowed by state, time and host, and the failed ones of a host are all replayed", async () => {
  const { account_id } = service.sandbox;
  await sendSms("+14155550204", { callback_url: "https://127.0.0.1/hook" });
  await go("webhooks?host=127.0.0.1");
  const events = page.getByRole("region", { name: "Events" });
  await events.getByRole("link", { name: "sms.sent" }).first().waitFor();
  // For every look: the page may look once more by itself, where its place was changed while it began.
  const looks = /\/admin\/v1\/webhooks\?/;
  await page.route(looks, async (asked) =>
    asked.fulfill({ json: { ...(await (await asked.fetch()).json()), next: "5-9" } }),
  );
  await page.getByRole("button", { name: "Show" }).click();
  const next = `#/webhooks?account_id=${account_id}&within=10080&host=127.0.0.1&after=5-9`;
  await page.locator(`a[href="${next}"]`, { hasText: "Next page" }).waitFor();
  await page.unroute(looks);
  const asking = page.waitForRequest(/\/webhooks\?.*since=/);
  await page.getByLabel("Occurred").selectOption("last 10 minutes");
  const asked = new URL((await asking).url()).searchParams;
  const minutes = (Date.now() - new Date(asked.get("since") ?? "").getTime()) / 60_000;
  expect(Math.round(minutes)).toBeOneOf([10, 11]);
  await events.waitFor();
  await page.getByLabel("State").selectOption("delivered");
  await page.getByText("No such events.").waitFor();
  await page.getByLabel("State").selectOption("all");
  await events.waitFor();
  await page.getByLabel("Host", { exact: true }).fill("other.example");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("No such events.").waitFor();
  const answers = [{ replayed: 1_000, next: "far" }, { replayed: 7 }, { replayed: 1 }];
  const bodies: unknown[] = [];
  await page.route("**/admin/v1/webhooks/replay", (route) => {
    bodies.push(route.request().postDataJSON());
    return route.fulfill({ json: answers[bodies.length - 1] });
  });
  const replay = async () => {
    await page.locator("main").getByRole("button", { name: "Replay failed" }).click();
    await page.getByRole("dialog").getByText("failed events of other.example").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Replay failed" }).click();
  };
  await replay();
  await page.getByText("1,007 events are queued for delivery again").waitFor();
  const body = { account_id, host: "other.example", failed: true };
  expect(bodies).toEqual([body, { ...body, after: "far" }]);
  await replay();
  await page.getByText("1 event is queued for delivery again").waitFor();
  expect(complaints).toEqual([]);
});

test("an event shows all that is kept of a receiver's answer, as text", async () => {
  const callback_url = "https://127.0.0.1/hook";
  const id = `evt_${await sendSms("+14155550203", { callback_url })}_1`;
  const answer = `<img src=x onerror=alert(1)> ${"<p>Bad gateway</p> ".repeat(50)}${"x".repeat(60)} the end`;
  const at = new Date().toISOString();
  await page.route(`**/admin/v1/webhooks/${id}`, async (asked) => {
    const event = (await (await asked.fetch()).json()) as object;
    const last_attempts = [
      { at, latency_ms: 9, status: 500 },
      { at, latency_ms: 3, status: 502, answer },
    ];
    await asked.fulfill({ json: { ...event, last_attempts } });
  });
  await page.setViewportSize({ width: 400, height: 800 });
  await go(`webhooks/${id}`);
  const rows = page.getByRole("region", { name: "Last attempts" }).locator("tbody tr");
  const cell = rows.first().locator("td", { hasText: "Bad gateway" });
  expect(await cell.innerText()).toBe(answer);
  const text = await cell.locator("code").boundingBox();
  const box = await cell.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(text?.height ?? Number.POSITIVE_INFINITY);
  expect(text?.height).toBeGreaterThan(100);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(complaints).toEqual([]);
});
