/** What one chooses from. Pure. */
export type Choice = readonly [value: string, text: string];
export type Choices = readonly Choice[];

/** What the service finds by a part of a name; by an id, at least the one that has it. */
export type FindChoices = (text: string) => Promise<Found>;

export interface Found {
  readonly choices: Choices;
  /** There are more than these. */
  readonly hasMore: boolean;
}
