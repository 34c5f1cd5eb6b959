/**
 * How many of a connector's slots a process gets: all live processes get equally many. If some slots are left over, some processes
 * get one more; the connector's name decides which, so that these are not always the same.
 */
export function fairShare(of: {
  readonly name: string;
  readonly slots: number;
  readonly process: string;
  readonly processes: readonly string[];
}): number {
  const processes = [...new Set([...of.processes, of.process])].toSorted();
  const each = Math.floor(of.slots / processes.length);
  const leftOver = of.slots % processes.length;
  const place = (processes.indexOf(of.process) + offsetOf(of.name)) % processes.length;
  return each + (place < leftOver ? 1 : 0);
}

function offsetOf(name: string): number {
  let sum = 0;
  for (let index = 0; index < name.length; index++) sum = (sum * 31 + name.charCodeAt(index)) % 65_521;
  return sum;
}
