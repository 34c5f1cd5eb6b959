import { Counter, type Registry } from "@prometheus-io/client";

export interface ReturnMailMetrics {
  /** `kind`: what the mail was (`dsn`, `feedback`, `auto_reply` …), or `failed` if it could not be stored. */
  returnMail(kind: string): void;
}

export function createReturnMailMetrics(registers: Registry[]): ReturnMailMetrics {
  const counter = new Counter({
    name: "postrider_return_mail_total",
    help: "Mails taken by the bounce listener, by what they were",
    labelNames: ["kind"],
    registers,
  });
  return { returnMail: (kind) => counter.labels(kind).inc() };
}
