import type { ErrorCollector, Summary } from "../../core/body/field-errors.ts";
import type { CheckedSms } from "./sms-checks.ts";

interface RefusedNumbers {
  readonly isRefused: (number: string, index: number) => boolean;
  readonly reason: string;
  /** For a batch. */
  readonly summary: Summary;
}

/** Notes a problem for each number that is refused: under `to`, or in a batch under `to.N`. */
export function refuseNumbers(
  { request }: CheckedSms,
  errors: ErrorCollector,
  { isRefused, reason, summary }: RefusedNumbers,
): void {
  const total = request.to.length;
  for (const [index, number] of request.to.entries()) {
    if (!isRefused(number, index)) continue;
    if (request.isBatch) errors.addEntry("to", { index, total, at: `to.${index}`, reason, summary });
    else errors.add("to", reason);
  }
}
