/**
 * Called before each migration of a database that holds data, so that an operator sees why the start takes long: with
 * millions of messages it may be minutes. Until all of them are done nothing has changed.
 */
export type OnMigration = (migration: MigrationStep) => void;

export interface MigrationStep {
  readonly name: string;
  /** From 1 to `of`. */
  readonly step: number;
  readonly of: number;
}
