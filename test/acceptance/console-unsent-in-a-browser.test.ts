/** What was typed into a form of the web console, and not sent, is not lost by leaving the page unasked. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";
import { until } from "../until.ts";

const opened = browserConsole();
const { signedIn } = opened;

const QUESTION = "Leave this page? What you have typed is not saved.";

/** By its name, which a screen reader says: otherwise one would hear that there is a dialog, with a button "Cancel". */
const question = (page: Page) =>
  page.getByRole("dialog", { name: QUESTION, exact: true }).getByText("What you have typed is not saved.");

async function answer(page: Page, word: "Cancel" | "Leave"): Promise<void> {
  await question(page).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: word }).click();
  await question(page).waitFor({ state: "detached" });
}

const hash = (page: Page) => page.evaluate<string>("location.hash");

test("whoever leaves a half-filled form by a link or Back is asked, and finds it as it was where one stays", async () => {
  const { page, complaints, heading } = await signedIn("accounts");
  await heading("Accounts");
  await page.getByRole("link", { name: "New account" }).click();
  await heading("New account");
  const name = page.getByLabel("Name");
  await name.fill("Half");
  const link = page.getByRole("navigation").getByRole("link", { name: "Messages" });
  for (const leave of [() => link.click(), () => page.goBack()]) {
    await leave();
    await answer(page, "Cancel");
    await until(
      () => hash(page),
      (now) => now === "#/accounts/new",
    );
    expect(await name.inputValue()).toBe("Half");
  }
  await link.press("Enter");
  await answer(page, "Leave");
  await heading("Messages");
  await page.goBack();
  await heading("New account");
  expect(await name.inputValue()).toBe("");
  expect(complaints).toEqual([]);
});

test("whoever asks for a third page while being asked is asked about that one", async () => {
  const { page, complaints, heading } = await signedIn("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Half");
  await page.evaluate("location.hash = '#/routes'");
  await question(page).waitFor();
  await page.evaluate("location.hash = '#/senders'");
  await answer(page, "Leave");
  await heading("Senders");
  expect(await hash(page)).toBe("#/senders");
  expect(complaints).toEqual([]);
});

test("nobody is asked where nothing was typed, or it was typed away again, given up or saved", async () => {
  const { page, complaints, heading, go } = await signedIn("accounts/new");
  const leave = async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await heading("Overview");
  };
  await heading("New account");
  await leave();
  await go("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Half");
  await page.getByLabel("Name").fill("");
  await leave();
  await go("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Half");
  await page.getByRole("link", { name: "Cancel" }).click();
  await heading("Accounts");
  await go("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Whole");
  await page.getByLabel("Mode").selectOption("live");
  await page.getByRole("button", { name: "Create account" }).click();
  await heading("Whole");
  await page.getByRole("link", { name: "Edit" }).click();
  await heading("Edit Whole");
  await leave();
  expect(complaints).toEqual([]);
});

test("a choice that would show another form is taken back where one stays with this one", async () => {
  const { page, complaints, heading } = await signedIn("connectors/new?kind=smpp");
  await heading("New connector");
  await page.getByLabel("Host").fill("smsc.example");
  const kind = page.getByLabel("Kind");
  await kind.selectOption("http");
  await answer(page, "Cancel");
  await until(
    () => kind.inputValue(),
    (chosen) => chosen === "smpp",
  );
  expect(await page.getByLabel("Host").inputValue()).toBe("smsc.example");
  await kind.selectOption("http");
  await answer(page, "Leave");
  await page.getByLabel("Provider").waitFor();
  expect(complaints).toEqual([]);
});

test("closing the tab, reloading it and signing out ask as well, and only then", async () => {
  const { page, complaints, heading } = await signedIn("accounts/new");
  await heading("New account");
  await page.reload();
  await heading("New account");
  expect(complaints).toEqual([]);
  await page.getByLabel("Name").fill("Half");
  const asking = page.waitForEvent("dialog");
  await page.evaluate("setTimeout(() => location.reload())");
  expect((await asking).type()).toBe("beforeunload");
  expect(await page.getByLabel("Name").inputValue()).toBe("Half");
  await page.getByRole("button", { name: "Sign out" }).click();
  await answer(page, "Cancel");
  expect(await page.getByLabel("Name").inputValue()).toBe("Half");

  const other = await opened.open("accounts/new");
  await opened.signIn(other.page);
  await other.heading("New account");
  await other.page.getByLabel("Name").fill("Half");
  await other.page.getByRole("button", { name: "Sign out" }).click();
  await answer(other.page, "Leave");
  await other.page.getByLabel("Console password").waitFor();
  expect(other.complaints).toEqual([]);
});

test("what was typed stays while one signs in again, and is saved then without a question", async () => {
  const { page, complaints, heading } = await signedIn("accounts/new");
  await heading("New account");
  await page.getByLabel("Name").fill("Later");
  await page.getByLabel("Mode").selectOption("live");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Create account" }).click();
  await opened.signIn(page);
  await heading("Later");
  const { data } = await admin<{ data: { name: string }[] }>(opened.service, "/accounts?limit=1000");
  expect(data.filter(({ name }) => name === "Later")).toHaveLength(1);
  expect(complaints).toEqual([]);
});
