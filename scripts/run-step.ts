import { spawn } from "node:child_process";

/** One command of the check, with the longest time it may take. */
export interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly timeoutMs: number;
}

export interface StepResult {
  readonly name: string;
  readonly ok: boolean;
  /** stdout and stderr together. */
  readonly output: string;
  readonly seconds: number;
}

/** Characters: of longer output only the end is kept. */
const MAX_OUTPUT = 4_000_000;

/**
 * Runs a command to its end, or kills it when its time is over; whatever it started ends with it. Never rejects.
 * `onOutput` sees what it prints as it comes.
 */
export function runStep(step: Step, onOutput: (text: string) => void = () => {}): Promise<StepResult> {
  const started = performance.now();
  const [program, ...args] = step.command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    const take = (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT);
      onOutput(text);
    };
    const finish = (ok: boolean) => {
      clearTimeout(timer);
      process.off("exit", kill);
      resolve({ name: step.name, ok, output, seconds: (performance.now() - started) / 1000 });
    };
    const kill = () => killGroup(child.pid);
    const timer = setTimeout(() => {
      take(`\nnot done after ${step.timeoutMs / 1000} s, killed\n`);
      kill();
    }, step.timeoutMs);
    process.on("exit", kill);
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", take);
    child.once("error", (error) => {
      take(`${error.message}\n`);
      finish(false);
    });
    // What it left running would hold the pipes open, and `close` would never come.
    child.once("exit", kill);
    child.once("close", (code) => finish(code === 0));
  });
}

/** A detached child leads a process group of its own. ESRCH: there is nothing left to end. */
function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
