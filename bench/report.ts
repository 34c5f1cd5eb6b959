import { cpus } from "node:os";

/** What every result begins with, so that it can be compared with later ones. */
export function heading(title: string): string {
  const cpu = cpus();
  return [
    `# ${title}`,
    `date ${new Date().toISOString().slice(0, 10)}, bun ${Bun.version}, ${cpu.length} cores ${cpu[0]?.model ?? ""}`,
  ].join("\n");
}

export const whole = (value: number) => Math.round(value).toLocaleString("en-US");
export const ratio = (value: number) => value.toFixed(2);
export const ms = (value: number) => `${value.toFixed(1)} ms`;
