/** One service at a time on a data folder of its own, as an operator starts it and stops it. */
import { afterEach, beforeEach, expect } from "bun:test";
import {
  makeDataFolder,
  type PostriderProcess,
  type StartOptions,
  startPostrider,
} from "./postrider-process.ts";

export interface OneProcess {
  /** The data folder of this test. */
  folder(): string;
  /** The one that was started last. */
  service(): PostriderProcess;
  start(options?: StartOptions): Promise<PostriderProcess>;
  /** As on SIGTERM; it must end with 0. */
  stop(): Promise<void>;
}

/** To be called where tests are defined: each gets a folder, and leaves nothing running. */
export function oneProcess(): OneProcess {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess | undefined;

  beforeEach(() => {
    folder = makeDataFolder();
  });

  afterEach(async () => {
    service?.kill("SIGKILL");
    await service?.exited;
    folder.remove();
  });

  const current = () => {
    if (!service) throw new Error("no service was started");
    return service;
  };
  return {
    folder: () => folder.path,
    service: current,
    async start(options = {}) {
      service = await startPostrider({ dataFolder: folder.path, ...options });
      return service;
    },
    async stop() {
      current().kill("SIGTERM");
      expect(await current().exited).toBe(0);
    },
  };
}
