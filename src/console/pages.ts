import type { NavigationGroup } from "./frame.ts";
import { showOverview } from "./overview.ts";
import { none } from "./pieces.ts";
import type { Place } from "./place.ts";
import type { ShowPage } from "./visit.ts";

const PAGES: Readonly<Record<string, ShowPage>> = {
  "": showOverview,
};

export const NAVIGATION: readonly NavigationGroup[] = [{ links: [{ name: "", title: "Overview" }] }];

export function pageFor({ path }: Place): ShowPage {
  return PAGES[path[0] ?? ""] ?? showNothing;
}

const showNothing: ShowPage = async () => ({
  title: "Not found",
  content: none("There is no such page."),
});
