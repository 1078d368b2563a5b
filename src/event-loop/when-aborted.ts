/** Reacts to an abort that may have happened already: a signal that is aborted fires no event. */

/** Calls back once, now or later. */
export function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
}
