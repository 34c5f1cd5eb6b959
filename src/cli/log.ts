import pino, { type Logger } from "pino";
import type { LogLevel } from "./config.ts";

/** What must never reach a log, should a careless line ever carry it. */
const SECRET_FIELDS = ["password", "api_key", "admin_token", "secret", "authorization", "text", "body"];

/** Structured lines on standard output. Who reads them may go away: lines are lost then, and nothing else. */
export function createLog(level: LogLevel): Logger {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[secret]" },
  });
}
