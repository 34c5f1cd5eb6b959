/** A real browser for tests of the web console. */
import { type Browser, chromium, type Page } from "playwright-core";
import { folderUntilTheEnd } from "./temp-folder.ts";

/** Starts Chromium: on Linux the one in the npm package, elsewhere the machine's own Chrome. */
export async function startBrowser(): Promise<Browser> {
  if (process.platform !== "linux") return chromium.launch({ channel: "chrome" });
  const { default: packed } = await import("@sparticuz/chromium");
  // Not its own arguments: they switch off what keeps sites apart. In containers tests run as root, whom it gives no sandbox.
  return chromium.launch({
    executablePath: await unpacked(packed),
    args: ["--no-sandbox", "--headless=shell"],
  });
}

/** It unpacks 200 MB into the folder for temporary files, and leaves them there: so it is given one that is removed. */
async function unpacked(packed: { executablePath(): Promise<string> }): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folderUntilTheEnd("postrider-browser-");
  try {
    return await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** What a page complains of: errors of its scripts, what its policy forbids, requests that fail. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    // A browser reports each answer of 4xx; the page says itself what those mean.
    if (message.type() === "error" && !message.text().includes("status of 4"))
      complaints.push(message.text());
  });
  return complaints;
}
