/**
 * Called before each migration of a database that holds data, so that an operator sees why the start takes long: minutes,
 * with millions of messages. Nothing is changed until all migrations are done.
 */
export type OnMigration = (migration: MigrationStep) => void;

export interface MigrationStep {
  readonly name: string;
  /** From 1 to `of`. */
  readonly step: number;
  readonly of: number;
}
