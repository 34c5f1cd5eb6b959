import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnswerRequest } from "../../api/app-deps.ts";
import { errorText } from "../../core/error-text.ts";
import { listenOnSocket } from "../listen.ts";
import { answerHandedOn } from "./hand-on.ts";

/** Where the threads hand requests on to the main one. */
export interface Door {
  /** Path of the Unix socket. */
  readonly socket: string;
  stop(): void;
}

/**
 * Opens the socket in a folder of its own, which only this user may enter: in the folder for temporary files, or in the data
 * folder if that one is read-only or full, or its path is too long. Throws, in words for the operator, if neither has room.
 */
export function openDoor(answer: AnswerRequest, dataFolder: string): Door {
  const inData = join(dataFolder, "listeners");
  const places = [() => mkdtempSync(join(tmpdir(), "postrider-")), () => makeAnew(inData)];
  const reasons: string[] = [];
  for (const place of places) {
    try {
      return openIn(place(), answer);
    } catch (error) {
      reasons.push(errorText(error));
    }
  }
  throw new Error(
    `--listeners needs a folder for a socket, and neither ${tmpdir()} nor the data folder ${dataFolder} can have it (${reasons.join("; ")}): make room, name another with TMPDIR, or start without --listeners`,
  );
}

/** A process that was killed leaves it behind. The folder is this process's, which has the data folder locked. */
function makeAnew(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** In octets: unix(7) has room for 107, of which `prepareHandOn` takes some. */
const LONGEST_PATH = 96;

function openIn(folder: string, answer: AnswerRequest): Door {
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const socket = join(folder, "socket");
  try {
    if (Buffer.byteLength(socket) > LONGEST_PATH) throw new Error(`${socket} is too long for a socket`);
    const server = listenOnSocket(socket, answerHandedOn(answer));
    return {
      socket,
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
