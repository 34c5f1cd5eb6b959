/** Goes to a place. Whoever asks for the place where one is already wants it read again. */
export function goTo(hash: string): void {
  const before = location.href;
  location.hash = hash;
  if (location.href === before) dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The same for links: a browser does nothing when one leads to where one is. */
export function readAgainOnLinks(root: HTMLElement): void {
  root.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest("a") : null;
    if (link && link.href === location.href) dispatchEvent(new HashChangeEvent("hashchange"));
  });
}
