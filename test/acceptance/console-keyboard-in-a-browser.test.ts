/** The web console for those who have no mouse, see little, or get the page only in part. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { holdNext } from "../browser.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn, signIn } = opened;

const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent");

test("a secret that is shown once stays for whoever presses Enter twice", async () => {
  const { page, complaints, heading } = await signedIn("accounts");
  await page.locator("main td").getByRole("link").first().click();
  await page.getByRole("link", { name: "New API key" }).click();
  await heading("New API key");
  await page.getByRole("button", { name: "Create API key" }).press("Enter");
  const secret = page.getByRole("dialog").locator("pre", { hasText: "pr_live_" });
  await secret.waitFor();
  await page.keyboard.press("Enter");
  await page
    .getByRole("button", { name: /^Cop/ })
    .filter({ hasNotText: /^Copy$/ })
    .waitFor();
  expect(await secret.isVisible()).toBe(true);
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await secret.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

test("whoever closes a notice with the keyboard goes on from where one was", async () => {
  const { page, heading } = await signedIn("connectors/new");
  await heading("New connector");
  await page.route("**/admin/v1/session", (route) => route.abort());
  const signOut = page.getByRole("button", { name: "Sign out" });
  await signOut.press("Enter");
  await page.getByRole("alert").getByText("No answer from Postrider").waitFor();
  await page.getByRole("button", { name: "Close" }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".notice").waitFor({ state: "detached" });
  expect(await focused(page)).toBe("Sign out");
});

test("whoever signs in again goes on reading where one was", async () => {
  const { page, heading } = await signedIn("");
  await heading("Overview");
  await page.setViewportSize({ width: 400, height: 200 });
  await page.evaluate("scrollTo(0, 150)");
  await page.context().clearCookies();
  // The overview reads itself again.
  await page.getByLabel("Console password").waitFor();
  await signIn(page);
  await page.getByLabel("Console password").waitFor({ state: "detached" });
  expect(await page.evaluate<number>("scrollY")).toBe(150);
});

test("whoever has signed in in one tab is asked no more in the other", async () => {
  const { page, complaints, heading } = await signedIn("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Half");
  await page.getByLabel("Mode").selectOption("live");
  const session = await page.context().cookies();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Create account" }).click();
  const question = page.getByLabel("Console password");
  await question.waitFor();
  const cameBack = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  const looked = page.waitForResponse((response) => response.url().endsWith("/admin/v1/session"));
  await cameBack();
  expect((await looked).status()).toBe(401);
  expect(await question.isVisible()).toBe(true);
  await page.context().addCookies(session);
  await cameBack();
  await heading("Half");
  expect(complaints).toEqual([]);
});

for (const [status, text] of [
  [413, "Answer 413 of a proxy in front of Postrider: it lets nothing so large through; raise its limit"],
  [502, "Answer 502 of a proxy in front of Postrider: it cannot reach Postrider, which may be starting"],
  [431, "Answer 431, perhaps of a proxy in front of Postrider"],
] as const) {
  test(`a proxy that answers ${status} is told from Postrider, and what it means is said`, async () => {
    const { page, heading, go } = await signedIn("connectors");
    await heading("Connectors");
    await page.route("**/admin/v1/routes*", (route) => route.fulfill({ status, body: "<html>…</html>" }));
    await go("routes");
    await page.getByText(text).waitFor();
  });
}

test("a name that is written from right to left does not turn the question before it is deleted", async () => {
  const name = "a\u202e?eroced”";
  const { id } = await admin<{ id: string }>(opened.service, "/accounts", { name, mode: "live" });
  const { page, heading } = await signedIn(`accounts/${id}`);
  await heading(name);
  await page.getByRole("button", { name: "Delete" }).click();
  expect(await page.getByRole("dialog").locator("bdi").textContent()).toBe(name);
});

test("Escape closes the menu of a narrow window, and one goes on from its button", async () => {
  const { page, heading } = await signedIn("connectors");
  await heading("Connectors");
  await page.setViewportSize({ width: 400, height: 600 });
  await page.getByRole("button", { name: "Menu" }).press("Enter");
  const link = page.getByRole("navigation").getByRole("link", { name: "Routes" });
  await link.focus();
  await page.keyboard.press("Escape");
  await link.waitFor({ state: "hidden" });
  expect(await focused(page)).toBe("Menu");
});

test("where a part of the console does not come, the page says so, and not while it comes", async () => {
  const { page, go, heading } = await signedIn("connectors");
  await heading("Connectors");
  expect(await page.getByText("not loaded").count()).toBe(0);
  await page.route("**/console/overview.js", (route) => route.abort());
  await page.goto("about:blank");
  await go("");
  await page.getByText("The console is not loaded yet. If this stays, reload the page.").waitFor();
});

test("the line that runs while a page is read is seen where colours are forced, too", async () => {
  const { page, heading } = await signedIn("connectors");
  await heading("Connectors");
  await page.emulateMedia({ forcedColors: "active" });
  const letGo = await holdNext(page, "**/admin/v1/routes*");
  await page.getByRole("navigation").getByRole("link", { name: "Routes" }).click();
  await page.locator("main[aria-busy]").waitFor();
  const colour = (of: string) => page.evaluate<string>(`getComputedStyle(${of}).backgroundColor`);
  expect(await colour("document.querySelector('main'), '::after'")).not.toEndWith(", 0)");
  letGo();
  await heading("Routes");
});

test("all that a page has is in a landmark that a screen reader goes to", async () => {
  const { page, heading } = await signedIn("connectors");
  await heading("Connectors");
  const navigation = page.getByRole("navigation", { name: "Pages" });
  await navigation.getByRole("link", { name: "API documentation" }).waitFor();
  await navigation.getByRole("button", { name: "Sign out" }).waitFor();
});

test("a time in the address that is none goes when the list is narrowed again", async () => {
  const { page, heading } = await signedIn("messages?created_after=yesterday");
  await heading("Messages");
  await page.getByLabel("Recipient").fill("+919876543210");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/to=/);
  expect(page.url()).not.toContain("yesterday");
});

test("a time that a clock shows twice stays the one that a list was narrowed by", async () => {
  const place = "messages?created_after=2026-10-25T01:30:00.000Z";
  const { page, heading } = await signedIn(place, { timezoneId: "Europe/Berlin" });
  await heading("Messages");
  expect(await page.getByLabel("Created after").inputValue()).toBe("2026-10-25T02:30");
  await page.getByLabel("Recipient").fill("+919876543210");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/to=/);
  expect(decodeURIComponent(page.url())).toContain("created_after=2026-10-25T01:30:00.000Z");
});

test("a time that a clock shows twice says by its offset which it is, and no other does", async () => {
  const account_id = opened.service.sandbox.account_id;
  for (const hour of ["00", "01", "02"]) {
    const expires_at = `2027-10-31T${hour}:30:00Z`;
    const email = `${hour}@example.net`;
    await admin(opened.service, "/suppressions", { account_id, email, reason: "manual", expires_at });
  }
  const { page, heading } = await signedIn("suppressions", { timezoneId: "Europe/Berlin" });
  await heading("Suppressions");
  const times = await page.locator("time[datetime^='2027']").allInnerTexts();
  expect(times.toSorted()).toEqual([
    "31 Oct 2027 02:30:00 +01:00",
    "31 Oct 2027 02:30:00 +02:00",
    "31 Oct 2027 03:30:00",
  ]);
});
