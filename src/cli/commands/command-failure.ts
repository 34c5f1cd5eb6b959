/** The ways in which a command ends without its work done. Their messages tell the operator what to do. */

/** The command failed. `fields`: what is wrong with which field. `isOutage`: the database went away. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";

  constructor(
    message: string,
    readonly fields: Readonly<Record<string, string>> = {},
    readonly isOutage = false,
  ) {
    super(message);
  }
}

/** The command was not understood. */
export class UsageFailure extends Error {
  override readonly name = "UsageFailure";
}
