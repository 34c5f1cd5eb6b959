/** The web console over time: answers that are late, missing or no longer wanted, and pages that stay open. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin, send } from "../admin.ts";
import { holdNext } from "../browser.ts";
import { browserConsole, type Console } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

const makeConnector = (name: string) =>
  admin<{ id: string }>(opened.service, "/connectors", { kind: "mx", name });

/** Resolves when the page has dealt with all answers that came before. */
const settled = (page: Page) => page.evaluate("fetch('/openapi.json').then((answer) => answer.text())");

/** What the page asks for from now on. */
function asked(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(`${request.method()} ${new URL(request.url()).pathname}`));
  return urls;
}

const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent");

test("a page that cannot be read says why, and is read when one tries again", async () => {
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  const failed = {
    status: 500,
    headers: { "X-Request-Id": "req-7" },
    json: { code: 500, message: "internal server error" },
  };
  await page.route(/\/admin\/v1\/keys\?/, (route) => route.fulfill(failed), { times: 1 });
  await go("keys");
  await heading("This page could not be read");
  await page.getByText("Internal server error (request req-7)").waitFor();
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await heading("API keys");
  expect(await focused(page)).toBe("API keys");
  // What forms are made from is read once, but not once and for all in vain.
  await page.route("**/openapi.json", (route) => route.abort(), { times: 1 });
  await go("accounts/new");
  await heading("This page could not be read");
  await page.getByText("No answer from Postrider").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await heading("New account");
  const refused = { code: 409, message: "conflict", details: { name: "is taken", plan: "is too small" } };
  await page.route("**/admin/v1/accounts", (route) => route.fulfill({ status: 409, json: refused }), {
    times: 1,
  });
  await page.getByLabel("Name").fill("Taken");
  await page.getByLabel("Mode").selectOption("live");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.locator("#problem-name", { hasText: "is taken" }).waitFor();
  await page.getByRole("alert").getByText("Conflict: plan is too small").waitFor();
  await page.getByRole("link", { name: "Cancel" }).click();
  await heading("Accounts");
  await go("accounts/01890000-0000-7000-8000-000000000000");
  await heading("Not found");
  await page.getByText("It does not exist, or no longer.").waitFor();
  await go("nothing-like-this");
  await page.getByText("There is no such page.").waitFor();
  expect(complaints.filter((each) => !/ERR_FAILED|status of 500/.test(each))).toEqual([]);
});

test("a page that comes late does not take the place of the one that was asked for since", async () => {
  const { page, complaints, heading, go } = await signedIn("connectors");
  await heading("Connectors");
  const letGo = await holdNext(page, "**/openapi.json");
  await go("accounts/new");
  await page.locator("main[aria-busy]").waitFor();
  await go("accounts");
  await heading("Accounts");
  letGo();
  await settled(page);
  expect(await page.locator("main h1").innerText()).toBe("Accounts");
  expect(await page.locator("main[aria-busy]").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("what is typed above a list while it is read stays there", async () => {
  const { page, complaints, heading } = await signedIn("messages");
  await heading("Messages");
  const letGo = await holdNext(page, /\/admin\/v1\/messages\?.*status=failed/);
  await page.getByLabel("Status").selectOption("failed");
  await page.locator("main[aria-busy]").waitFor();
  await page.getByLabel("Recipient").pressSequentially("+9198");
  letGo();
  await page.locator("main[aria-busy]").waitFor({ state: "detached" });
  await page.keyboard.type("76");
  expect(await page.getByLabel("Recipient").inputValue()).toBe("+919876");
  expect(complaints).toEqual([]);
});

test("what a button has begun goes on where one goes elsewhere meanwhile, and disturbs nothing there", async () => {
  const [first, second] = [await makeConnector("first"), await makeConnector("second")];
  const { page, complaints, heading, go } = await signedIn(`connectors/${first.id}`);
  await heading("first");
  const letToggle = await holdNext(page, `**/admin/v1/connectors/${first.id}`, "PATCH");
  await page.getByRole("button", { name: "Disable" }).click();
  await page.locator("button[aria-busy]", { hasText: "Disable" }).waitFor();
  expect(await page.getByRole("button", { name: "Disable" }).isDisabled()).toBe(true);
  await go("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Half");
  const requests = asked(page);
  letToggle();
  await page.getByText("first: disabled").waitFor();
  await settled(page);
  expect(requests).not.toContain("GET /admin/v1/accounts");
  expect(await page.getByLabel("Name").inputValue()).toBe("Half");
  await page.getByLabel("Name").fill("");

  await go(`connectors/${second.id}`);
  await heading("second");
  const letDelete = await holdNext(page, `**/admin/v1/connectors/${second.id}`, "DELETE");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await go("settings");
  await heading("Settings");
  letDelete();
  await page.getByText("second: deleted").waitFor();
  await settled(page);
  expect(await page.evaluate<string>("location.hash")).toBe("#/settings");
  await admin(opened.service, `/connectors/${first.id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

async function withHeldClock({ page, heading }: Console, title: string): Promise<void> {
  await heading(title);
  await page.clock.install();
  await page.reload();
  await heading(title);
}

test("a page asks for news as long as somebody looks at it, and only then", async () => {
  const { id } = await makeConnector("watched");
  const watched = await signedIn(`connectors/${id}`);
  const { page, complaints, heading, go } = watched;
  await withHeldClock(watched, "watched");
  const path = `/admin/v1/connectors/${id}`;
  const news = () => page.waitForRequest((request) => request.url().endsWith(path));
  const setVisibility = (state: string) =>
    page.evaluate(
      `Object.defineProperty(document, "visibilityState", { configurable: true, value: "${state}" });
       document.dispatchEvent(new Event("visibilitychange"))`,
    );
  const look = news();
  await admin(opened.service, `/connectors/${id}`, { is_enabled: false }, "PATCH");
  await page.clock.fastForward(5_000);
  await look;
  await page.locator("dd", { hasText: "disabled" }).waitFor();
  await setVisibility("hidden");
  const requests = asked(page);
  // The answer to the last one has to come before the next is due.
  await settled(page);
  await page.clock.fastForward(60_000);
  await page.clock.fastForward(60_000);
  await settled(page);
  expect(requests).not.toContain(`GET ${path}`);
  const lookAgain = news();
  await setVisibility("visible");
  await lookAgain;
  await go("settings");
  await heading("Settings");
  requests.length = 0;
  await page.clock.fastForward(60_000);
  await page.clock.fastForward(60_000);
  await settled(page);
  expect(requests).not.toContain(`GET ${path}`);
  await admin(opened.service, `/connectors/${id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

test("what was done is told for a while, what has failed until it is closed or the page is left", async () => {
  const { id } = await makeConnector("told");
  const told = await signedIn(`connectors/${id}`);
  const { page, complaints, heading } = told;
  await withHeldClock(told, "told");
  const notices = page.locator(".notice");
  await page.getByRole("button", { name: "Disable" }).click();
  await notices.getByText("told: disabled").waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await notices.getByText("told: enabled").waitFor();
  expect(await notices.count()).toBe(1);
  await page.clock.fastForward(6_000);
  await notices.waitFor({ state: "detached" });
  await page.route(`**/admin/v1/connectors/${id}/test`, (route) => route.abort());
  for (const leave of [
    () => page.getByRole("button", { name: "Close" }).click(),
    () => page.getByRole("navigation").getByRole("link", { name: "Settings" }).click(),
  ]) {
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByRole("alert").getByText("Test: No answer from Postrider").waitFor();
    await page.clock.fastForward(60_000);
    expect(await notices.count()).toBe(1);
    await leave();
    await notices.waitFor({ state: "detached" });
  }
  await heading("Settings");
  await admin(opened.service, `/connectors/${id}`, undefined, "DELETE");
  expect(complaints.filter((each) => !each.includes("ERR_FAILED"))).toEqual([]);
});

test("an erasure is followed until it is done, also over an answer that is lost, and not beyond", async () => {
  const made = await admin<{ id: string }>(opened.service, "/erasures", { recipient: "+919876543210" });
  const followed = await signedIn(`erasures/${made.id}`);
  const { page, complaints } = followed;
  const path = `/admin/v1/erasures/${made.id}`;
  const erasure = await admin(opened.service, `/erasures/${made.id}`);
  let answer: "running" | "lost" | "incomplete" | "done" = "running";
  const left = () => (answer === "incomplete" ? { passed_over: 2 } : {});
  await page.route(`**${path}`, (route) =>
    answer === "lost"
      ? route.abort()
      : route.fulfill({ json: { ...erasure, status: answer, erased: 3, redacted: 1, ...left() } }),
  );
  await withHeldClock(followed, "Erasure");
  await page.locator("dd", { hasText: "running" }).waitFor();
  const read = async (next: typeof answer) => {
    answer = next;
    const reading = page.waitForRequest((request) => request.url().endsWith(path));
    await page.clock.fastForward(1_000);
    await reading;
    await settled(page);
  };
  await read("lost");
  await page.getByText(/^Updated .*, not since then: No answer/).waitFor();
  await read("incomplete");
  await page.locator("dd", { hasText: "2 places in the database" }).waitFor();
  await read("done");
  await page.locator("dd", { hasText: "done" }).waitFor();
  await page.getByText(/^Updated [\d:]+$/).waitFor();
  await page.locator("dd", { hasText: "1 no longer names the recipient" }).waitFor();
  const requests = asked(page);
  await page.clock.fastForward(60_000);
  await page.clock.fastForward(60_000);
  await settled(page);
  expect(requests).not.toContain(`GET ${path}`);
  expect(complaints.filter((each) => !each.includes("ERR_FAILED"))).toEqual([]);
});

test("a page that is open at midnight says that its times are of the day before", async () => {
  const path = `/accounts/${opened.service.sandbox.account_id}`;
  const { created_at: time } = await admin<{ created_at: string }>(opened.service, path);
  const { page, complaints, heading } = await signedIn("accounts");
  // Of the day on which the first account was made, and far from its end.
  await page.clock.install({ time: new Date(time).setHours(12, 0, 0, 0) });
  await page.reload();
  await heading("Accounts");
  const first = page.locator("time").first();
  expect(await first.innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
  await page.clock.fastForward("24:00:00");
  await page
    .locator("time", { hasText: /^\d+ [A-Z][a-z]{2} (\d{4} )?\d\d:\d\d:\d\d$/ })
    .first()
    .waitFor();
  expect(complaints).toEqual([]);
});

test("a page that nobody could read again for days says of which day it is", async () => {
  const left = await signedIn();
  const { page, complaints } = left;
  await withHeldClock(left, "Overview");
  const updated = page.getByText(/^Updated /);
  expect(await updated.innerText()).toMatch(/^Updated \d\d:\d\d:\d\d$/);
  await page.route("**/admin/v1/**", (route) => route.abort());
  await page.clock.fastForward("48:00:00");
  const old = /^Updated \d+ [A-Z][a-z]{2} (\d{4} )?\d\d:\d\d:\d\d, not since then: No answer/;
  await page.getByText(old).waitFor();
  expect(complaints.filter((each) => !each.includes("ERR_FAILED"))).toEqual([]);
});

test("the overview shows what is new without taking the focus", async () => {
  const sendTo = (to: string) => {
    const body = { to, dlt_template_id: "1107160000000000001" };
    return send(opened.service, { apiKey: opened.service.sandbox.api_key, path: "/v1/sms/messages", body });
  };
  await sendTo("+14155550111");
  const overview = await signedIn();
  const { page, complaints } = overview;
  await withHeldClock(overview, "Overview");
  await page.getByRole("link", { name: "+14155550111" }).waitFor();
  await page.getByRole("region", { name: "Messages" }).focus();
  await sendTo("+14155550112");
  await page.clock.fastForward(5_000);
  await page.getByRole("link", { name: "+14155550112" }).waitFor();
  expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Messages");
  expect(complaints).toEqual([]);
});
