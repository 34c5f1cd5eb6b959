import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnswerRequest } from "../../api/app-deps.ts";
import { errorText } from "../../core/error-text.ts";
import { listenOnSocket } from "../http/listen.ts";
import { answerForwarded } from "./forward.ts";

/** The Unix socket on which the main thread answers the requests that the listener threads forward. */
export interface ForwardSocket {
  readonly path: string;
  stop(): void;
}

/**
 * Opens the socket in a folder of its own, which only this user may enter: in the folder for temporary files, or in the data
 * folder if that one is read-only or full, or its path is too long. Throws, with a message for the operator, if neither works.
 */
export function openForwardSocket(answer: AnswerRequest, dataFolder: string): ForwardSocket {
  const inData = join(dataFolder, "listeners");
  const folders = [() => mkdtempSync(join(tmpdir(), "postrider-")), () => recreate(inData)];
  const reasons: string[] = [];
  for (const makeFolder of folders) {
    try {
      return openIn(makeFolder(), answer);
    } catch (error) {
      reasons.push(errorText(error));
    }
  }
  throw new Error(
    `--listeners needs a folder for a socket, and neither ${tmpdir()} nor the data folder ${dataFolder} can have it (${reasons.join("; ")}): make room, name another with TMPDIR, or start without --listeners`,
  );
}

/** A process that was killed has left the folder behind. No other process uses it: this one has locked the data folder. */
function recreate(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** In octets. A path may have 107 (unix(7)), of which `prepareForward` needs some for a suffix. */
const LONGEST_PATH = 96;

function openIn(folder: string, answer: AnswerRequest): ForwardSocket {
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const path = join(folder, "socket");
  try {
    if (Buffer.byteLength(path) > LONGEST_PATH) throw new Error(`${path} is too long for a socket`);
    const server = listenOnSocket(path, answerForwarded(answer));
    return {
      path,
      stop() {
        server.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}
