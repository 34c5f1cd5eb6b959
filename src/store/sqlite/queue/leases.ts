import type { KeptLease, LeaseStore, LiveProcess, Slot, SlotLease } from "../../store.ts";

/** `Store.leases`, in memory: the folder is locked for one process, so its leases end with it. */
export function createLeases(): LeaseStore {
  const processes = new Map<string, LiveProcess>();
  const leases = new Map<string, SlotLease>();
  let lastHeartbeat = 0;

  const forget = (process: string) => {
    processes.delete(process);
    for (const [key, lease] of leases) if (lease.process === process) leases.delete(key);
  };
  const keepOnly = (process: string, kept: readonly KeptLease[]) => {
    const marks = new Map(kept.map((lease) => [keyOf(lease), lease.isUp]));
    for (const [key, lease] of leases) {
      if (lease.process !== process) continue;
      const isUp = marks.get(key);
      if (isUp === undefined) leases.delete(key);
      else leases.set(key, { ...lease, isUp });
    }
  };
  return {
    async heartbeat({ process, isSharing, keep, take, dead }) {
      for (const one of dead)
        if (processes.get(one.process)?.heartbeat === one.heartbeat) forget(one.process);
      const isNew = !processes.has(process);
      processes.set(process, { process, heartbeat: ++lastHeartbeat, isSharing });
      keepOnly(process, keep);
      for (const { name, slot } of take) {
        const key = keyOf({ name, slot });
        if (!leases.has(key)) leases.set(key, { name, slot, process, isUp: false });
      }
      return {
        isNew,
        processes: [...processes.values()],
        leases: [...leases.values()],
      };
    },
    leave: async (process) => forget(process),
  };
}

function keyOf({ name, slot }: Slot): string {
  return `${slot} ${name}`;
}
