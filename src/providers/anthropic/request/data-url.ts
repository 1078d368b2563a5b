/** Data URLs in base64, the only kind that OpenAI's clients send: RFC 2397. */

export interface DataUrl {
  /** In lower case, without parameters. */
  mediaType: string
  base64: string
}

/** Longer headers than this are none. */
const MAX_HEADER_LENGTH = 256

/** Null for anything else, data URLs that are not base64 included. */
export function parseDataUrl(url: string): DataUrl | null {
  // Megabytes may follow: only the header is looked at closely.
  const comma = url.slice(0, MAX_HEADER_LENGTH).indexOf(',')
  const header = /^data:([^;,]*)(?:;[^;,]+)*;base64$/i.exec(url.slice(0, Math.max(0, comma)))
  return header ? { mediaType: (header[1] ?? '').toLowerCase(), base64: url.slice(comma + 1) } : null
}
