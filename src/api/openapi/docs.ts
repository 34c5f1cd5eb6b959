/** The API reference at `/docs`: Swagger UI, served from this process, so that it works offline. */
import type { AppDeps } from "../app-deps.ts";
import type { Endpoint } from "../endpoint.ts";
import { notFound } from "../errors.ts";
import { pageEndpoints, pageHeaders } from "../page-files.ts";

const page = pageEndpoints("API reference");

export function docsEndpoints({ docsAsset }: Pick<AppDeps, "docsAsset">): readonly Endpoint[] {
  // A `Blob` is shared by all answers. Octets would be copied for each, and kept until its client has read them.
  const assets = new Map<string, Blob>();
  const assetNamed = async (name: string): Promise<Blob> => {
    const octets = assets.has(name) ? undefined : await docsAsset(name);
    if (octets) assets.set(name, new Blob([octets]));
    const asset = assets.get(name);
    if (!asset) throw notFound();
    return asset;
  };

  return [
    { ...page("/docs", "docs", () => text(PAGE, "index.html")), aliases: ["/docs/"] },
    page("/docs/start.js", "docsScript", () => text(SCRIPT, "start.js")),
    page("/docs/{asset}", "docsAsset", async ({ params }) => {
      const name = params.asset ?? "";
      return new Response(await assetNamed(name), { headers: headersOf(name) });
    }),
  ];
}

/** Swagger UI sets style attributes; nothing else on the page is inline. */
const headersOf = pageHeaders(["style-src 'self' 'unsafe-inline'"]);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postrider API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/swagger-ui-standalone-preset.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Requests from the page go to the origin that it was loaded from. */
const SCRIPT = `fetch("/openapi.json")
  .then((response) => response.json())
  .then((spec) => {
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: location.origin }] },
      dom_id: "#docs",
      presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
      validatorUrl: null,
    });
  });
`;

function text(body: string, name: string): Response {
  return new Response(body, { headers: headersOf(name) });
}
