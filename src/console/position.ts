/** Where one was on a page, kept with its entry of the browser's history: Back and a reload lead there again. */
export interface Position {
  readonly y: number;
  /** The link by which the page was left. */
  readonly href?: string;
}

export interface Positions {
  /** Of the entry where the browser is now; `undefined` if it is new. */
  readonly here: () => Position | undefined;
  /** While one page takes the place of another, what is seen belongs to neither. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** A browser allows only so many changes of its history. */
const SETTLED_AFTER_MS = 100;

export function rememberPositions(root: HTMLElement): Positions {
  let isPaused = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const remember = (position: Position) => {
    clearTimeout(timer);
    if (!isPaused) history.replaceState(position, "");
  };
  // The browser would scroll before there is anything to scroll.
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(() => remember({ y: scrollY }), SETTLED_AFTER_MS);
  });
  // Before the link is followed.
  const onClick = ({ target }: Event) => {
    const href = target instanceof Element ? target.closest("a")?.getAttribute("href") : undefined;
    if (href) remember({ y: scrollY, href });
  };
  root.addEventListener("click", onClick, { capture: true });
  return {
    here: () => (history.state as Position | null) ?? undefined,
    pause() {
      isPaused = true;
      clearTimeout(timer);
    },
    resume() {
      isPaused = false;
    },
  };
}
