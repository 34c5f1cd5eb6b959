/** A real browser for tests of the web console. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { filledOnce } from "./shared-folder.ts";

/** Starts Chromium: on Linux the one in the npm package, elsewhere the machine's own Chrome. */
export async function startBrowser(): Promise<Browser> {
  if (process.platform !== "linux") return chromium.launch({ channel: "chrome" });
  unpacked ??= filledOnce("postrider-browser-", unpack);
  // Not its own arguments: they switch off what keeps sites apart. In containers tests run as root, whom it gives no sandbox.
  return chromium.launch({
    executablePath: join(unpacked, "chromium"),
    args: ["--no-sandbox", "--headless=shell"],
  });
}

let unpacked: string | undefined;

/** Two seconds of work. In a process of its own, whose folder for temporary files it is: there the package unpacks itself. */
function unpack(folder: string): void {
  const program = fileURLToPath(new URL("./unpack-browser.ts", import.meta.url));
  const env = { PATH: process.env.PATH ?? "", TMPDIR: folder };
  execFileSync(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
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

/** Keeps the next request of the method to an address that matches until it is let go. */
export async function holdNext(page: Page, url: string | RegExp, method = "GET"): Promise<() => void> {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  let isHeld = false;
  await page.route(url, async (route) => {
    if (isHeld || route.request().method() !== method) return route.fallback();
    isHeld = true;
    await promise;
    return route.continue();
  });
  return letGo;
}
