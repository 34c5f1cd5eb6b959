/** The web console as an operator sees it: a real browser, a real service. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin, reached } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { until } from "../until.ts";

const opened = browserConsole();
const { open, signIn, signedIn, changePassword, forgetSession } = opened;

async function send(path: string, body: object, apiKey = opened.service.sandbox.api_key): Promise<string> {
  const headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" };
  const answer = await fetch(opened.service.url + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(202);
  return ((await answer.json()) as { message_id: string }).message_id;
}

test("a wrong password is refused in words, the right one leads to where one wanted to go, and signing out ends it", async () => {
  const { page, complaints, heading, go } = await open("accounts");
  // Whoever has only a keyboard can begin at once, and again over what was wrong.
  await page.getByLabel("Console password").waitFor();
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("invalid console password").waitFor();
  // Of the single binary and in containers too, where there is no npm.
  await page.getByText("postrider console password", { exact: true }).waitFor();
  const later = {
    status: 429,
    headers: { "Retry-After": "5" },
    json: { code: 429, message: "too many requests" },
  };
  await page.route("**/admin/v1/session", (route) => route.fulfill(later), { times: 1 });
  await page.keyboard.type(opened.service.sandbox.console_password);
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Too many requests; try again in 5 s").waitFor();
  await page.keyboard.press("Enter");
  await heading("Accounts");
  await page.reload();
  await heading("Accounts");
  await page.route("**/admin/v1/session", (route) => route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("alert").getByText("No answer from Postrider").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Console password").waitFor();
  await go("messages");
  await page.reload();
  await page.getByLabel("Console password").waitFor();
  expect(complaints.filter((each) => !each.includes("ERR_FAILED"))).toEqual([]);
});

test("a message is found, with what happened to it, in order", async () => {
  const sms = { to: "+15005550001", from: "ACMEIN", dlt_template_id: "1107160000000000001" };
  const id = await send("/v1/sms/messages", sms);
  const of = { apiKey: opened.service.sandbox.api_key, path: `/v1/sms/messages/${id}` };
  await reached(opened.service, of, "undelivered");
  const { page, complaints, heading } = await signedIn("messages");
  await page.getByRole("link", { name: "+15005550001" }).click();
  await heading("Message to +15005550001");
  const shown = await page.locator("main").innerText();
  expect(shown).toContain(id);
  const why = "the SMSC reported UNDELIV \\(simulated\\) \\(receipt.undeliv\\)";
  const story = "Accepted\\s+[\\s\\S]+Attempt over sandbox:sms → sent[\\s\\S]+Receipt “undelivered”";
  expect(shown).toMatch(new RegExp(`undelivered\\s+Error\\s+${why}[\\s\\S]+${story}[\\s\\S]+${why}`));
  expect(shown).toMatch(/Attempt[\s\S]+\+\d+ m?s\s+Receipt/);
  expect(await page.locator("dd .badge.bad").innerText()).toBe("undelivered");
  const time = page.locator("dd time").first();
  expect(await time.getAttribute("title")).toBe(await time.getAttribute("datetime"));
  // An SMS has one recipient, who is in the title.
  expect(await page.getByRole("heading", { name: "Recipients" }).count()).toBe(0);
  await page.getByRole("link", { name: "What it was given" }).click();
  await page.locator("details[open]", { hasText: "1107160000000000001" }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Messages" }).click();
  await heading("Messages");
  await page.getByLabel("Message id").fill(` ${id} `);
  await page.getByRole("button", { name: "Go" }).click();
  await heading("Message to +15005550001");
  expect(complaints).toEqual([]);
});

test("an account and a key that are made in forms send, and the form says what is wrong", async () => {
  const { page, complaints, heading } = await signedIn("accounts/new");
  await heading("New account");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.locator("#problem-name", { hasText: "required" }).waitFor();
  await page.getByLabel("Name").fill("Made in the console");
  await page.getByLabel("Mode").selectOption("sandbox");
  await page.getByRole("button", { name: "Create account" }).click();
  await heading("Made in the console");
  await page.getByText("It has no API key yet.").waitFor();
  await page.locator("main").getByRole("link", { name: "API keys" }).click();
  await heading("API keys");
  await page.getByRole("link", { name: "New API key" }).click();
  // The answer comes once the browser has taken the focus from the button, which is disabled until then.
  await page.route("**/admin/v1/keys", async (route) => {
    await until(() => page.evaluate<boolean>("document.activeElement === document.body"));
    await route.fallback();
  });
  await page.getByRole("button", { name: "Create API key" }).click();
  const apiKey = await page.getByRole("dialog").locator("pre").innerText();
  await send("/v1/sms/messages", { to: "+919876543210", dlt_template_id: "1107160000000000001" }, apiKey);
  await page.locator("main h1", { hasText: "pr_live_" }).waitFor();
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  // What had the focus before is gone with its page: whoever has no mouse goes on at the top of this one.
  expect(await page.evaluate("document.activeElement.textContent")).toStartWith("pr_live_");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText(": revoked").waitFor();
  expect(complaints).toEqual([]);
});

test("texts that look like markup are shown as they are", async () => {
  const name = "<img src=x onerror=alert(1)>";
  await admin(opened.service, "/accounts", { name, mode: "sandbox" });
  const to = [{ email: "ann@example.net" }];
  const mail = {
    from: { email: "a@example.com" },
    to,
    subject: "<script>alert(2)</script>",
    body_html: "<p>",
  };
  await send("/v1/emails/messages", mail);
  const { page, complaints, heading, go } = await signedIn("accounts");
  await page.getByRole("link", { name }).click();
  await heading(name);
  await go("");
  await heading("Overview");
  await page.getByText("<script>alert(2)</script>").waitFor();
  await go("messages?channel=email");
  await heading("Messages");
  await page.getByText("<script>alert(2)</script>").waitFor();
  await go("sandbox");
  await page.getByText("<script>alert(2)</script>").first().waitFor();
  expect(complaints).toEqual([]);
});

/** Where a part of the page begins to be seen, from the left. */
const leftOf = (page: Page, text: string) =>
  page.evaluate<number>(`(() => {
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && !texts.currentNode.data.includes("${text}"));
    const range = document.createRange();
    range.setStart(texts.currentNode, texts.currentNode.data.indexOf("${text}"));
    range.setEnd(texts.currentNode, range.startOffset + ${text.length});
    return range.getBoundingClientRect().left;
  })()`);

test("a name that is written from right to left turns neither the address nor the tag beside it", async () => {
  const name = "\u202Edrawkcab";
  const to = [{ email: "bob@example.net", name }];
  const mail = { from: { email: "a@example.com", name }, to, subject: "Hello", body_text: "Hello" };
  const id = await send("/v1/emails/messages", { ...mail, tags: [name, "second"] });
  const of = { apiKey: opened.service.sandbox.api_key, path: `/v1/emails/messages/${id}` };
  await reached(opened.service, of, "delivered");
  const { page, complaints, heading } = await signedIn(`messages/${id}`);
  await heading("Message to bob@example.net");
  await page.getByRole("region", { name: "Recipients" }).getByText("bob@example.net").waitFor();
  await page.getByText(/^Updated /).waitFor();
  expect(await leftOf(page, "<a@")).toBeLessThan(await leftOf(page, "com>"));
  expect(await leftOf(page, "drawkcab")).toBeLessThan(await leftOf(page, "second"));
  await page.getByRole("link", { name: "What it was given" }).click();
  await heading("Sandbox");
  expect(await leftOf(page, "<bob@")).toBeLessThan(await leftOf(page, "net>"));
  expect(complaints).toEqual([]);
});

test("a session that ends while a form is filled in asks for the password, and the form goes on as it was", async () => {
  const { page, complaints, heading } = await signedIn("accounts/new");
  await page.getByLabel("Name").fill("Typed before the end");
  await page.getByLabel("Mode").selectOption("live");
  const made = await admin<{ console_password: string }>(opened.service, "/console-password", {});
  changePassword(made.console_password);
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Create account" }).click();
  await signIn(page);
  await heading("Typed before the end");
  expect(complaints).toEqual([]);
});

test("whoever ends all sessions signs everybody out, and can sign in again with the same password", async () => {
  const [one, other] = [await open("accounts"), await open()];
  await signIn(one.page);
  await one.heading("Accounts");
  await signIn(other.page);
  await other.heading("Overview");
  await other.page.getByRole("button", { name: "End all sessions" }).click();
  const question = other.page.locator("dialog");
  await question.getByRole("button", { name: "End them" }).focus();
  await one.page.getByRole("button", { name: "End all sessions" }).click();
  await one.page.getByRole("dialog").getByRole("button", { name: "End them" }).click();
  // The overview reads itself again.
  for (const { page } of [one, other]) await page.getByLabel("Console password").waitFor();
  expect(await other.page.getByRole("link", { name: "Messages" }).isVisible()).toBe(false);
  // What was asked does not lie in front of the form, and is asked still.
  expect(await question.count()).toBe(0);
  await signIn(other.page);
  await question.waitFor();
  expect(await other.page.evaluate("document.activeElement.textContent")).toBe("End them");
  await other.page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  expect(await other.page.evaluate("document.activeElement.textContent")).toBe("End all sessions");
  expect([...one.complaints, ...other.complaints]).toEqual([]);
  forgetSession();
});

test("a form sends what was changed in it, and leaves what was not as it is to the letter", async () => {
  const body = "Your code is\r\n{{1}}";
  const account = opened.service.sandbox.account_id;
  const made = await admin<{ id: string }>(opened.service, "/sms-templates", {
    account_id: account,
    name: "Code",
    body,
  });
  const { page, complaints, heading } = await signedIn(`sms-templates/${made.id}/edit`);
  await page.getByLabel("Name").fill("One-time code");
  await page.getByRole("button", { name: "Save" }).click();
  await heading("One-time code");
  const template = await admin(opened.service, `/sms-templates/${made.id}`);
  expect(template).toMatchObject({ name: "One-time code", body });
  expect(complaints).toEqual([]);
});

test("a connector is made, tested against its provider, switched off and deleted", async () => {
  const smsc = await startFakeSmsc({});
  const { page, complaints, heading } = await signedIn("connectors/new");
  const field = (name: string) => page.locator(`#field-${name}`);
  await field("name").fill("airtel");
  await field("host").fill(smsc.host);
  await field("system_id").fill("acme");
  expect(await field("password").getAttribute("type")).toBe("password");
  await field("password").fill("secret");
  await page.getByText("More settings").click();
  const create = () => page.getByRole("button", { name: "Create connector" }).click();
  for (const [port, problem] of [
    ["70000", "must be"],
    ["not a port", "must be a number"],
  ] as const) {
    await field("port").fill(port);
    await page.getByText("More settings").click();
    await create();
    await page.locator("#problem-port", { hasText: problem }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("field-port");
    expect(await field("port").getAttribute("aria-invalid")).toBe("true");
    const summary = port === "70000" ? "Validation failed: see the fields above" : "";
    expect(await page.locator("form.record > .problem").innerText()).toBe(summary);
  }
  await field("port").fill(String(smsc.port));
  await create();
  await heading("airtel");
  await page.getByRole("button", { name: "Test" }).click();
  await page.locator(".result.good").getByText("bound as").waitFor();
  await page.getByRole("link", { name: "Edit" }).click();
  await heading("Edit airtel");
  await field("name").fill("airtel 2");
  await page.getByText("More settings").click();
  expect(await field("port").inputValue()).toBe(String(smsc.port));
  await field("window").fill("7");
  await page.getByRole("button", { name: "Save" }).click();
  await heading("airtel 2");
  expect(await page.locator("main").innerText()).toMatch(/Password\s+set, not shown[\s\S]+Window\s+7\s/);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("button", { name: "Enable" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await heading("Connectors");
  expect(await admin(opened.service, "/connectors")).toEqual({ data: [] });
  await smsc.close();
  expect(complaints).toEqual([]);
});

test("the console's files let nothing from elsewhere in, are read again only when changed, and are no others", async () => {
  const at = (name: string, headers = {}) => fetch(`${opened.service.url}/console${name}`, { headers });
  const page = await at("");
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  for (const name of ["", "/", "/main.js", "/console.css"]) {
    const { status, headers } = await at(name);
    expect([name, status]).toEqual([name, 200]);
    const policy = headers.get("content-security-policy")?.split("; ") ?? [];
    expect(policy.slice(0, 2)).toEqual(["default-src 'none'", "script-src 'self'"]);
    for (const rule of ["style-src 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'"])
      expect(policy).toContain(rule);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const again = await at(name, { "If-None-Match": headers.get("etag") });
    expect([name, again.status, await again.text()]).toEqual([name, 304, ""]);
  }
  for (const name of "main.ts tsconfig.json times.test.ts times.test.js ..%2fconfig.ts none.js".split(" "))
    expect([name, (await at(`/${name}`)).status]).toEqual([name, 404]);
});
