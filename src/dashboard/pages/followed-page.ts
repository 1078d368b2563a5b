/** Scrolls a page with content that grows at its end. */
import { useEffect, useLayoutEffect, useRef } from 'react'

/** Closer to the end than this many pixels, a page is followed. */
const TOLERANCE_PX = 80

/**
 * Keeps the end of the page in view while `content` grows, unless the user has scrolled up. Scrolling back to the end resumes it. The returned
 * function resumes it wherever the page is.
 */
export function useFollowedPage(content: readonly unknown[]): () => void {
  const isFollowed = useRef(true)
  const top = useRef(0)
  useEffect(() => {
    function update(): void {
      const { scrollHeight, clientHeight } = document.documentElement
      // Content that grows moves the end away, which is no scrolling. Only scrolling up ends following.
      if (window.scrollY < top.current) isFollowed.current = false
      if (scrollHeight - clientHeight - window.scrollY < TOLERANCE_PX) isFollowed.current = true
      top.current = window.scrollY
    }
    window.addEventListener('scroll', update, { passive: true })
    return () => window.removeEventListener('scroll', update)
  }, [])
  const last = content.at(-1)
  useLayoutEffect(() => {
    if (content.length > 0 && isFollowed.current) window.scrollTo({ top: document.documentElement.scrollHeight })
  }, [content.length, last])
  return () => {
    isFollowed.current = true
  }
}
