/** Follows a media query, such as the width of the screen. */
import { useSyncExternalStore } from 'react'

export const PHONE = '(max-width: 639px)'
export const WIDE_SCREEN = '(min-width: 1024px)'

export function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    onChange => {
      const list = window.matchMedia(query)
      list.addEventListener('change', onChange)
      return () => list.removeEventListener('change', onChange)
    },
    () => window.matchMedia(query).matches,
  )
}
