import pino, { type Logger } from "pino";
import type { LogLevel } from "./config.ts";
import { type Output, unblocked } from "./unblocked.ts";

/** Fields that are never logged, even if a log line carries them by mistake. */
const SECRET_FIELDS = [
  "password",
  "api_key",
  "admin_token",
  "console_password",
  "secret",
  "authorization",
  "text",
  "body",
];

/** How many characters to hold for a reader that is too slow. Further lines are dropped. */
const MAX_HELD = 4 * 1024 * 1024;

/**
 * Logs JSON lines to standard output. If the reader stops reading or goes away, or the disk of the file is full, lines are dropped and
 * nothing blocks. Says how many once lines are taken again.
 */
export function createLog(level: LogLevel, output: Output = unblocked("stdout")): Logger {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let held = 0;
  let lost = 0;
  /** How many lines are lost if the one that is written now is: the line that tells of some stands for these. */
  let standsFor = 1;
  let isCutOff = false;

  const onTaken = () => {
    isCutOff = false;
    if (held > 0 || lost === 0) return;
    const count = lost;
    lost = 0;
    standsFor = count;
    log.warn({ lines: count }, "lines of this log were lost: nobody read it in time, or its disk was full");
    standsFor = 1;
  };
  const lines = {
    write(line: string) {
      const { length } = line;
      if (held + length > MAX_HELD) return void lost++;
      held += length;
      const count = standsFor;
      // The stream buffers what is not read yet, and flushes what it can when the process ends.
      output.write(isCutOff ? `\n${line}` : line, (error) => {
        held -= length;
        if (!error) return onTaken();
        lost += count;
        // A disk that is full may have taken the beginning: then the next line begins anew.
        isCutOff = true;
      });
    },
  };
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[secret]" },
    },
    lines,
  );
  return log;
}

/**
 * Messages and stacks, with those of the causes, and the code. Leaves out the other fields of an error: a database quotes the row
 * that it refuses, and an HTTP client the request.
 */
function describeError(error: Error): Record<string, unknown> {
  const { type, message, stack } = pino.stdSerializers.err(error);
  const code = (error as { readonly code?: unknown }).code;
  return {
    type,
    message,
    stack,
    ...(typeof code === "string" && { code }),
    ...(error instanceof AggregateError && { errors: error.errors.map(describeError) }),
  };
}
