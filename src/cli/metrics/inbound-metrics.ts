import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { InboundResult } from "../../core/inbound/inbound.ts";
import type { InboundStore } from "../../store/store.ts";
import { setOrRemove } from "./set-or-remove.ts";

export interface InboundMetrics {
  /** The same store, but it counts the messages that it receives. */
  counted(inbound: InboundStore): InboundStore;
  /** Sets the gauge; `undefined` while the database does not answer. */
  show(unassigned: number | undefined): void;
}

export function inboundMetrics(registers: Registry[]): InboundMetrics {
  const received = new Counter({
    name: "postrider_inbound_total",
    help: "Inbound SMS by result: stored, unassigned (stored, to a number of no account), waiting (for other parts), repeat",
    labelNames: ["result"],
    registers,
  });
  const keywords = new Counter({
    name: "postrider_opt_out_words_total",
    help: "Stop and start words that took effect",
    labelNames: ["word"],
    registers,
  });
  const unassigned = new Gauge({
    name: "postrider_inbound_unassigned",
    help: "Stored inbound SMS to numbers of no account, counted up to 100,000",
    registers,
  });
  const count = (result: InboundResult) => {
    const isUnassigned = result.kind === "stored" && result.accountId === undefined;
    received.labels(isUnassigned ? "unassigned" : result.kind).inc();
    if (result.keyword) keywords.labels(result.keyword).inc();
  };
  return {
    counted: (inbound) => ({
      ...inbound,
      async receive(pieces) {
        const results = await inbound.receive(pieces);
        for (const result of results) count(result);
        return results;
      },
    }),
    show: (count) => setOrRemove(unassigned, count),
  };
}
