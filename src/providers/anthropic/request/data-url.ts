/** Parses data URLs in base64 (RFC 2397), the only kind that OpenAI's clients send. */

export interface DataUrl {
  /** The media type in lower case, without parameters. */
  mediaType: string
  base64: string
}

/** The upper bound on the header's characters. No valid header is longer. */
const MAX_HEADER_LENGTH = 256

/** Returns null for anything else, including data URLs that are not base64. */
export function parseDataUrl(url: string): DataUrl | null {
  // Only the header is searched, because megabytes may follow.
  const comma = url.slice(0, MAX_HEADER_LENGTH).indexOf(',')
  const header = /^data:([^;,]*)(?:;[^;,]+)*;base64$/i.exec(url.slice(0, Math.max(0, comma)))
  return header ? { mediaType: (header[1] ?? '').toLowerCase(), base64: url.slice(comma + 1) } : null
}
