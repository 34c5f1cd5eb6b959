import type { Command } from "commander";
import type { Terminal } from "../commands/terminal.ts";
import type { AdminTarget } from "../config.ts";
import type { CommandLine } from "./command-line.ts";
import { addConnectorCommands } from "./connector-commands.ts";
import { addConsoleCommands } from "./console-commands.ts";
import { addDltCommands } from "./dlt-commands.ts";
import { addDomainCommands } from "./domain-commands.ts";
import { addErasureCommands } from "./erasure-commands.ts";
import { ALARMS, addListedNoun, INBOUND, QUEUES } from "./listed-nouns.ts";
import { addMessageCommands } from "./message-commands.ts";
import { addNounCommands } from "./noun-commands.ts";
import { NOUNS } from "./nouns.ts";
import { addReceiptCommands } from "./receipt-commands.ts";
import { addSandboxCommands } from "./sandbox-commands.ts";
import { addSettingCommands } from "./setting-commands.ts";
import { addSuppressionCommands } from "./suppression-commands.ts";
import { addWebhookCommands } from "./webhook-commands.ts";

/** The administration, as nouns and verbs of `program`. They speak to a running server, over its admin API. */
export function addAdminCommands(program: Command, target: AdminTarget, terminal: Terminal): void {
  const commandLine: CommandLine = { program, target, terminal };
  for (const noun of NOUNS) {
    const command = addNounCommands(commandLine, noun);
    if (noun.name === "suppressions") addSuppressionCommands(command);
    if (noun.name === "domains") addDomainCommands(command, noun);
  }
  addDltCommands(commandLine);
  addConnectorCommands(commandLine);
  addSettingCommands(commandLine);
  addWebhookCommands(commandLine);
  addListedNoun(commandLine, INBOUND);
  addSandboxCommands(commandLine);
  addMessageCommands(commandLine);
  addListedNoun(commandLine, QUEUES);
  addListedNoun(commandLine, ALARMS);
  addReceiptCommands(commandLine);
  addErasureCommands(commandLine);
  addConsoleCommands(commandLine);
}
