import { addNoun, type CommandLine } from "./command-line.ts";

/** `console password` and `console sign-out`. */
export function addConsoleCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "console", "the web console");
  noun.verb({
    usage: "password",
    summary: "make a new password for the web console, and sign everybody out of it",
    work: async ({ client, print }) =>
      print(await client.request("POST", "console-password"), (made: { console_password: string }) => {
        return `${made.console_password}\nKeep it now: it is not stored, and never shown again.\n`;
      }),
  });
  noun.verb({
    usage: "sign-out",
    summary: "sign everybody out of the web console; its password stays",
    async work({ client, print }) {
      await client.request("DELETE", "sessions");
      print({ signed_out: true }, () => "everybody is signed out within a second\n");
    },
  });
}
