/** The web console in the hands of somebody who uses it for hours: keyboard, Back, many records. */
import { beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { admin, reached, send } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";
import { until } from "../until.ts";

const opened = browserConsole();
const { signedIn } = opened;

beforeAll(async () => {
  const names = Array.from({ length: 60 }, (_, index) => `Account ${index}`);
  for (const name of names) await admin(opened.service, "/accounts", { name, mode: "live" });
});

const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent");
const scrolled = (page: Page) => page.evaluate<number>("scrollY");

test("the next page of a list begins at its top, and Back leads to the row where one was", async () => {
  const { page, complaints, heading } = await signedIn("accounts");
  await heading("Accounts");
  // The first page is read from the top; a skip leads past the navigation.
  expect(await page.evaluate("document.activeElement.tagName")).toBe("BODY");
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to the page");
  await page.keyboard.press("Enter");
  expect(await focused(page)).toBe("Accounts");
  await page.getByRole("link", { name: "Next page" }).press("Enter");
  await page.getByRole("link", { name: "First page" }).waitFor();
  expect([await focused(page), await scrolled(page)]).toEqual(["Accounts", 0]);
  await page.goBack();
  await page.getByRole("link", { name: "Next page" }).waitFor();
  expect(await focused(page)).toBe("Next page");
  expect(await scrolled(page)).toBeGreaterThan(0);
  await page.getByRole("link", { name: "Account 40" }).click();
  await heading("Account 40");
  expect([await focused(page), await scrolled(page)]).toEqual(["Account 40", 0]);
  await page.goBack();
  await heading("Accounts");
  expect(await focused(page)).toBe("Account 40");
  expect(await page.getByRole("link", { name: "Account 40" }).boundingBox()).not.toBeNull();
  expect(await scrolled(page)).toBeGreaterThan(0);
  await page.evaluate("scrollTo(0, 77)");
  await until(() => page.evaluate<boolean>("history.state?.y === 77"));
  await page.reload();
  await heading("Accounts");
  expect(await scrolled(page)).toBe(77);
  expect(complaints).toEqual([]);
});

test("whoever presses a button with the keyboard goes on from there, whatever comes of it", async () => {
  const made = await admin<{ id: string }>(opened.service, "/connectors", { kind: "mx", name: "direct" });
  const { page, complaints, heading, go } = await signedIn(`connectors/${made.id}`);
  await heading("direct");
  await page.getByLabel("Domain whose mail hosts are tested").fill("nowhere.invalid");
  await page.getByRole("button", { name: "Test" }).press("Enter");
  await page.getByText("The test failed: nowhere.invalid").waitFor();
  await page.getByRole("button", { name: "Test", disabled: false }).waitFor();
  expect(await focused(page)).toBe("Test");
  await page.getByRole("button", { name: "Disable" }).press("Enter");
  await page.getByRole("button", { name: "Enable" }).waitFor();
  expect(await focused(page)).toBe("direct");
  await go("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Refused");
  await page.getByLabel("Mode").selectOption("live");
  await page.route("**/admin/v1/accounts", (route) =>
    route.request().method() === "POST" ? route.abort() : route.continue(),
  );
  await page.getByRole("button", { name: "Create account" }).press("Enter");
  await page.getByRole("alert").getByText("No answer from Postrider").waitFor();
  expect(await focused(page)).toBe("Create account");
  await admin(opened.service, `/connectors/${made.id}`, undefined, "DELETE");
  expect(complaints.filter((each) => !each.includes("ERR_FAILED"))).toEqual([]);
});

test("pages that stay open while the service restarts say that they are old, and then that they are not", async () => {
  const made = await admin<{ id: string }>(opened.service, "/connectors", { kind: "mx", name: "restarted" });
  const [overview, connector] = [await signedIn(), await signedIn(`connectors/${made.id}`)];
  await overview.heading("Overview");
  await connector.heading("restarted");
  const old = ({ page }: typeof overview) => page.getByText(/^Updated .*, not since then: No answer/);
  await opened.restart(async () => {
    await old(overview).waitFor();
    await old(connector).waitFor();
    await connector.page.getByRole("button", { name: "Disable" }).click();
    await connector.page.getByRole("alert").getByText("Disable: No answer from Postrider").waitFor();
  });
  await old(overview).waitFor({ state: "detached" });
  await old(connector).waitFor({ state: "detached" });
  await connector.page.getByRole("button", { name: "Disable" }).click();
  await connector.page.getByRole("button", { name: "Enable" }).waitFor();
  await admin(opened.service, `/connectors/${made.id}`, undefined, "DELETE");
  const complaints = [...overview.complaints, ...connector.complaints];
  expect(complaints.filter((each) => !each.includes("ERR_CONNECTION"))).toEqual([]);
});

test("of many connectors the overview shows first what should work and does not, and the list has them all", async () => {
  const make = (body: object) => admin<{ id: string }>(opened.service, "/connectors", body);
  const spare = { kind: "mx", is_enabled: false };
  const made = await Promise.all(
    Array.from({ length: 101 }, (_, index) => make({ ...spare, name: `spare ${index}` })),
  );
  const config = { host: "127.0.0.1", port: 1, system_id: "acme" };
  made.push(await make({ kind: "smpp", name: "broken", config }));
  const { page, complaints, heading } = await signedIn();
  await heading("Overview");
  await page.getByRole("row").nth(1).getByRole("link", { name: "broken" }).waitFor();
  const manyMore = "**/admin/v1/connectors?limit=500";
  await page.route(manyMore, async (asked) => {
    const { data } = (await (await asked.fetch()).json()) as { data: unknown[] };
    await asked.fulfill({ json: { data: Array(10).fill(data).flat(), next: "far" } });
  });
  await page.reload();
  await page.getByRole("link", { name: "All 1,000 or more connectors" }).waitFor();
  await page.unroute(manyMore);
  await page.reload();
  await page.getByRole("link", { name: "All 102 connectors" }).click();
  await heading("Connectors");
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByText(/^Updated /).waitFor();
  await page.getByRole("link", { name: "broken" }).click();
  await heading("broken");
  await page.locator("dd", { hasText: "ECONNREFUSED" }).waitFor();
  for (const { id } of made) await admin(opened.service, `/connectors/${id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

test("the overview names what alarms are about, what waits in line, and hosts that get no webhooks", async () => {
  const { service } = opened;
  const live = await admin<{ id: string }>(service, "/accounts", { name: "Acme Live", mode: "live" });
  const connector = await admin<{ id: string }>(service, "/connectors", { kind: "mx", name: "direct" });
  const body = { channel: "email", account_id: live.id, connector_ids: [connector.id] };
  const route = await admin<{ id: string }>(service, "/routes", body);
  const at = new Date(Date.now() - 7_200_000).toISOString();
  // As if it were written from right to left.
  const [turning, reversed] = ["\u202Etcerid", "\u202Eetuor on"];
  const { page, complaints, heading } = await signedIn("settings");
  await heading("Settings");
  const answers = {
    alarms: [
      { name: "connector_down", subject: connector.id, subject_name: turning, reason: reversed, since: at },
      { name: "queue_too_old", subject: route.id, reason: "waits since long", since: at },
    ],
    queues: [
      { queue: route.id, ready: 10_000, has_more: true, oldest_ready_at: at },
      { queue: connector.id, ready: 1, has_more: false, oldest_ready_at: at },
      { queue: "sandbox:sms", ready: 0, has_more: false },
    ],
    "webhooks/hosts": [
      { account_id: live.id, host: "hooks.example", paused_until: at, failures: 12, reason: "no_answer" },
    ],
  };
  for (const [path, data] of Object.entries(answers))
    await page.route(`**/admin/v1/${path}`, (asked) => asked.fulfill({ json: { data } }));
  await page.clock.install();
  await page.reload();
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await heading("Overview");
  expect(await page.locator(".alarm").allInnerTexts()).toEqual([
    `connector down ${turning}: ${reversed} 2 h ago`,
    "queue too old email all: waits since long 2 h ago",
  ]);
  // Neither turns what follows it: the age is the last on the line.
  expect(await page.evaluate<number>(BEHIND_AGE)).toBeCloseTo(0, 0);
  const rows = (name: string) => page.getByRole("region", { name }).locator("tbody tr").allInnerTexts();
  const cells = (texts: string[]) => texts.map((text) => text.split("\t").map((cell) => cell.trim()));
  expect(cells(await rows("Queues"))).toEqual([
    ["email all", "direct", "10,000+", "2 h ago"],
    ["Only over direct", "", "1", "2 h ago"],
  ]);
  const [host] = cells(await rows("Paused hosts"));
  expect(host).toEqual(["hooks.example", "Acme Live", expect.any(String), "12", "no answer"]);
  for (const path of Object.keys(answers)) await page.unroute(`**/admin/v1/${path}`);
  // What is over is gone from the page that stays open.
  await page.clock.fastForward(5_000);
  await page.getByText("No alarms").waitFor();
  expect(await page.locator(".alarm").count()).toBe(0);
  expect(await page.getByText("Paused webhook hosts").count()).toBe(0);
  await admin(service, `/routes/${route.id}`, undefined, "DELETE");
  await admin(service, `/connectors/${connector.id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

/** How far the text of the first alarm goes on behind its age, in pixels. */
const BEHIND_AGE = `(() => {
  const line = document.createRange();
  line.selectNodeContents(document.querySelector(".alarm"));
  const age = document.querySelector(".alarm time");
  return line.getBoundingClientRect().right - age.getBoundingClientRect().right;
})()`;

test("a route keeps a connector that is not among those that its form offers", async () => {
  const { service } = opened;
  const { id } = await admin<{ id: string }>(service, "/connectors", { kind: "mx", name: "far" });
  const route = await admin<{ id: string }>(service, "/routes", { channel: "email", connector_ids: [id] });
  const { page, complaints, heading } = await signedIn();
  await heading("Overview");
  await page.route("**/admin/v1/connectors?limit=500", (asked) => asked.fulfill({ json: { data: [] } }));
  await page.goto(`${service.sandbox.console_url}#/routes/${route.id}/edit`);
  await heading("Edit email all");
  await page.getByLabel("Weight of connector 1").fill("7");
  await page.getByRole("button", { name: "Save" }).click();
  await heading("email all");
  const { connectors } = await admin<{ connectors: unknown }>(service, `/routes/${route.id}`);
  expect(connectors).toEqual([{ connector_id: id, weight: 7 }]);
  await admin(service, `/routes/${route.id}`, undefined, "DELETE");
  await admin(service, `/connectors/${id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

test("long names and addresses stay within a narrow window", async () => {
  const { service } = opened;
  const name = "A very long name ".repeat(6).slice(0, 100);
  const { id } = await admin<{ id: string }>(service, "/accounts", { name, mode: "sandbox" });
  await admin(service, "/sandbox/inbound", {
    account_id: id,
    from: "x".repeat(32),
    to: "y".repeat(32),
    text: "z".repeat(1_600),
  });
  const { page, complaints, heading, go } = await signedIn();
  await page.setViewportSize({ width: 320, height: 800 });
  const places = {
    "": "Overview",
    [`messages?account_id=${id}`]: "Messages",
    [`inbound?account_id=${id}`]: "Inbound SMS",
    [`settings?account_id=${id}`]: "Settings",
    [`accounts/${id}`]: name.trim(),
  };
  for (const [place, title] of Object.entries(places)) {
    await go(place);
    await heading(title);
    expect([place, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([place, 320]);
    expect(await page.title()).toBe(`${title} · Postrider`);
  }
  const [menu, link] = [
    page.getByRole("button", { name: "Menu" }),
    page.locator("nav a", { hasText: "Routes" }),
  ];
  expect(await link.isVisible()).toBe(false);
  await menu.click();
  expect(await menu.getAttribute("aria-expanded")).toBe("true");
  await link.click();
  await heading("Routes");
  expect(await link.isVisible()).toBe(false);
  // The account that was looked at last is looked at on other pages too.
  await go("webhooks");
  await heading("Webhooks");
  expect(await page.getByLabel("Account").inputValue()).toBe(id);
  await go("routes");
  await heading("Routes");
  expect(await page.locator("nav a[aria-current=page]").allTextContents()).toEqual(["Routes"]);
  expect(complaints).toEqual([]);
});

test("a long name breaks lines, and moves no other column of its list out of sight", async () => {
  const { service } = opened;
  const name = "x".repeat(100);
  const account = await admin<{ id: string }>(service, "/accounts", { name, mode: "live" });
  const connector = await admin<{ id: string }>(service, "/connectors", { kind: "mx", name });
  const route = await admin<{ id: string }>(service, "/routes", {
    channel: "email",
    account_id: account.id,
    connector_ids: [connector.id],
  });
  const { page, complaints, heading, go } = await signedIn();
  await page.setViewportSize({ width: 1280, height: 800 });
  const lists = { "": "Connectors", [`routes?account_id=${account.id}`]: "Routes" };
  for (const [place, label] of Object.entries(lists)) {
    await go(place);
    await heading(place === "" ? "Overview" : label);
    const list = page.getByRole("region", { name: label });
    await list.getByText(name).first().waitFor();
    const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table[aria-label="${label}"]'))`;
    expect([label, await page.evaluate(hidden)]).toEqual([label, 0]);
    const choice = await page.getByLabel("Account").boundingBox();
    expect(choice?.width).toBeLessThanOrEqual(320);
  }
  for (const email of ["ann@example.net", `${"long-".repeat(12)}@${"sub.".repeat(40)}example.net`]) {
    const body = { from: { email: "a@example.com" }, to: [{ email }], subject: "Seen", body_text: "Hello" };
    const { api_key: apiKey } = service.sandbox;
    const sent = await send(service, { apiKey, path: "/v1/emails/messages", body });
    await reached(service, { apiKey, path: `/v1/emails/messages/${sent.body.message_id}` }, "delivered");
  }
  await go("sandbox");
  await page.locator(".excerpt").nth(1).waitFor();
  const [long, short] = [page.locator("summary").first(), page.locator("summary").last()];
  const widthOf = async (part: Locator) => (await part.boundingBox())?.width ?? 0;
  const channel = { exact: true };
  expect(await widthOf(long.getByText("email", channel))).toBe(
    await widthOf(short.getByText("email", channel)),
  );
  expect(await widthOf(long.locator(".excerpt"))).toBeGreaterThan(100);
  await admin(service, `/routes/${route.id}`, undefined, "DELETE");
  await admin(service, `/connectors/${connector.id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});
