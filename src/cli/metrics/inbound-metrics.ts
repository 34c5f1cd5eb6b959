import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { InboundResult } from "../../core/inbound/inbound.ts";
import type { InboundStore } from "../../store/store.ts";

export interface InboundMetrics {
  /** The same store, which counts the messages it receives. */
  counted(inbound: InboundStore): InboundStore;
  /** Sets the gauges from the store. */
  refresh(inbound: Pick<InboundStore, "countUnassigned">): Promise<void>;
}

export function inboundMetrics(registers: Registry[]): InboundMetrics {
  const received = new Counter({
    name: "postrider_inbound_total",
    help: "What handsets wrote: stored, unassigned (stored, nobody's number), waiting (a part), repeat",
    labelNames: ["result"],
    registers,
  });
  const keywords = new Counter({
    name: "postrider_opt_out_words_total",
    help: "Stop and start words that were heeded",
    labelNames: ["word"],
    registers,
  });
  const unassigned = new Gauge({
    name: "postrider_inbound_unassigned",
    help: "Messages from handsets that are kept and are nobody's, counted up to 100,000",
    registers,
  });
  const count = (result: InboundResult) => {
    const isNobodys = result.kind === "stored" && result.accountId === undefined;
    received.labels(isNobodys ? "unassigned" : result.kind).inc();
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
    refresh: async (inbound) => unassigned.set(await inbound.countUnassigned()),
  };
}
