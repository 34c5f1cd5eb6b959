/** An operator who does not want to wait for what a stop waits for. */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";

/** When what is to be tried again has come due. */
const LATER = {
  preload: fileURLToPath(new URL("../fakes/later.ts", import.meta.url)),
  env: { AHEAD_MS: "60000" },
};

onBothStores(
  (store) => {
    test("a second signal ends the process at once, which says what is unfinished, and nothing is lost", async () => {
      const folder = makeDataFolder(store);
      const smsc = await startFakeSmsc({ receipts: "after" });
      const first = await startPostrider({ dataFolder: folder.path });
      const live = await openLiveSms(first, { connectors: [await connectSmsc(first, smsc)] });
      smsc.dial.holdSubmits = true;
      const message = await live.send("+14155551306");
      await smsc.until(() => smsc.submits.length === 1);
      const signalledMs = performance.now();
      first.kill("SIGTERM");
      await first.line(/"msg":"stopping"/);
      // Until a second after the first they count as the same signal.
      const again = setInterval(() => first.kill("SIGINT"), 100);
      expect(await first.exited).toBe(1);
      clearInterval(again);
      expect(performance.now() - signalledMs).toBeGreaterThanOrEqual(1_000);
      expect(first.output()).toMatch(
        /^postrider: stopped at once by a second signal; unfinished: .*messages that are being sent/m,
      );
      smsc.dial.holdSubmits = false;
      const second = await startPostrider({ dataFolder: folder.path, ...LATER });
      expect(await reached(second, message, "delivered", "failed")).toMatchObject({ status: "delivered" });
      second.kill("SIGTERM");
      expect(await second.exited).toBe(0);
      await smsc.close();
      folder.remove();
    }, 180_000);
  },
  { atOnce: true },
);
