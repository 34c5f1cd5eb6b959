/** Whether what pages ask for is what the API describes: it leaves parameters unread that it does not know. */
import type { Page } from "playwright-core";

export interface RequestWatch {
  watch(page: Page): void;
  /** The requests so far that the service describes no operation for, or not with all their parameters. */
  undescribed(serviceUrl: string): Promise<readonly string[]>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

export function watchRequests(): RequestWatch {
  const asked = new Set<string>();
  return {
    watch(page) {
      page.on("request", (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (!pathname.startsWith("/admin/")) return;
        asked.add(`${request.method()} ${pathname}?${[...new Set(searchParams.keys())].join("&")}`);
      });
    },
    async undescribed(serviceUrl) {
      const description = (await (await fetch(`${serviceUrl}/openapi.json`)).json()) as Description;
      return [...asked].filter((request) => !isDescribed(request, description));
    },
  };
}

function isDescribed(request: string, { paths }: Description): boolean {
  const [method = "", path = "", names = ""] = request.split(/[ ?]/);
  const operations = Object.keys(paths)
    .filter((template) => new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path))
    .map((template) => paths[template]?.[method.toLowerCase()]);
  const given = names.split("&").filter((name) => name !== "");
  return operations.some((operation) => operation && given.every((name) => isParameter(operation, name)));
}

function isParameter({ parameters = [] }: Operation, wanted: string): boolean {
  return parameters.some(({ in: place, name }) => place === "query" && name === wanted);
}
