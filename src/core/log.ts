type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The log. Its fields are snake_case; the error that caused a line is `err`. */
export interface Log extends Readonly<Record<"debug" | "info" | "warn" | "error", LogLine>> {
  /** Whether lines of level `debug` are written. If not, their fields need not be computed. */
  isDebug(): boolean;
}
