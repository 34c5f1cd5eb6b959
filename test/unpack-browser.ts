/** Unpacks the browser of the npm package, 200 MB, into the folder for temporary files. */
import packed from "@sparticuz/chromium";

await packed.executablePath();
