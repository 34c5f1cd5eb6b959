import pino, { type Logger } from "pino";
import type { LogLevel } from "./config.ts";

/** What must never reach a log, should a careless line ever carry it. */
const SECRET_FIELDS = ["password", "api_key", "admin_token", "secret", "authorization", "text", "body"];

/** Characters that wait for a reader who is slow, or stands still; the lines after them are lost. */
const MAX_HELD = 4 * 1024 * 1024;

/** Structured lines on standard output. Who reads them may go away or stand still: lines are lost then, and nothing else. */
export function createLog(level: LogLevel): Logger {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let held = 0;
  let lost = 0;
  const onHandedOn = (length: number) => {
    held -= length;
    if (held > 0 || lost === 0) return;
    const lines = lost;
    lost = 0;
    log.warn({ lines }, "lines of this log were lost: nobody read it in time");
  };
  const output = {
    write(line: string) {
      const { length } = line;
      if (held + length > MAX_HELD) return void lost++;
      held += length;
      // The stream holds what is not read yet, and hands on what it can when the process ends.
      process.stdout.write(line, () => onHandedOn(length));
    },
  };
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[secret]" },
    },
    output,
  );
  return log;
}
