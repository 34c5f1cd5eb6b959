import type { Client } from "./client.ts";
import type { Child } from "./dom/dom.ts";
import type { Place } from "./place.ts";
import type { ReadSchema } from "./schemas.ts";

/** A page, as long as somebody is there. */
export interface Visit {
  readonly place: Place;
  readonly client: Client;
  readonly schemas: ReadSchema;
  /** Aborted when the page is left. */
  readonly left: AbortSignal;
  /** Says something in the corner of the page, and to screen readers. */
  readonly notify: (text: string, kind?: "done" | "failed") => void;
  /** Reads and shows the same page once more, if one is still there. */
  readonly reload: () => void;
  /** Goes to another place, unless one has gone elsewhere meanwhile. */
  readonly leaveFor: (hash: string) => void;
}

export interface View {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: Child;
  readonly content: Child;
  /** What a screen reader says once other rows of the same list are shown. */
  readonly said?: string | undefined;
}

export type ShowPage = (visit: Visit) => Promise<View>;
