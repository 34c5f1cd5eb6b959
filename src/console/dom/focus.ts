/** Where whoever has no mouse goes on. */

/** At `place`, where the focus was; at the title of the page, if that is gone. A button that is disabled while it saves leaves it to the body. */
export function goOnFrom(place: Element | null): void {
  const isThere = place?.isConnected && place !== document.body;
  const next = isThere ? place : document.querySelector("main h1");
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
}
