type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Where parts write what happens. Fields are snake_case; a cause is `err`. */
export interface Log extends Readonly<Record<"debug" | "info" | "warn" | "error", LogLine>> {
  /** Whether lines of level `debug` are written: otherwise what they say need not be made. */
  isDebug(): boolean;
}
