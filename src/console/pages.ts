import type { NavigationGroup } from "./frame.ts";
import { showMessage } from "./message-page.ts";
import { showMessages } from "./messages.ts";
import { showOverview } from "./overview.ts";
import { none } from "./pieces.ts";
import type { Place } from "./place.ts";
import { showSandbox } from "./sandbox.ts";
import type { ShowPage } from "./visit.ts";

const PAGES: Readonly<Record<string, ShowPage>> = {
  "": showOverview,
  messages: (visit) => (visit.place.path.length > 1 ? showMessage : showMessages)(visit),
  sandbox: showSandbox,
};

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    links: [
      { name: "", title: "Overview" },
      { name: "messages", title: "Messages" },
      { name: "sandbox", title: "Sandbox" },
    ],
  },
];

export function pageFor({ path }: Place): ShowPage {
  return PAGES[path[0] ?? ""] ?? showNothing;
}

const showNothing: ShowPage = async () => ({
  title: "Not found",
  content: none("There is no such page."),
});
