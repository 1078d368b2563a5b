/** Removes usage from the stream of a client that did not ask for it. Every other byte passes unchanged. */
import { hideUsage } from './usage.ts'

const EMPTY = new Uint8Array(0)
const USAGE_KEY = Buffer.from('"usage"')
/** OpenAI writes this into every chunk but the last. */
const ANNOUNCEMENT = Buffer.from(',"usage":null')
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Returns the event without usage. It is empty when it held nothing else. An event without usage is returned unchanged. */
export function withoutUsage(event: Uint8Array): Uint8Array {
  const at = indexOf(event, USAGE_KEY)
  if (at < 0) return event
  const isAnnouncement = at > 0 && indexOf(event, ANNOUNCEMENT) === at - 1
  if (!isAnnouncement || indexOf(event, USAGE_KEY, at + 1) >= 0) return rewrite(event)
  const rest = event.slice(0, -ANNOUNCEMENT.length)
  rest.set(event.subarray(at - 1 + ANNOUNCEMENT.length), at - 1)
  return rest
}

/** A Buffer made of the event would cost several times as much as the search. */
function indexOf(bytes: Uint8Array, part: Buffer, from = 0): number {
  return Buffer.prototype.indexOf.call(bytes as Buffer, part, from)
}

function rewrite(event: Uint8Array): Uint8Array {
  const lines = decoder.decode(event).split(/\r\n|\n|\r/)
  const data = lines.filter(line => line.startsWith('data:')).map(line => line.slice(5).replace(/^ /, ''))
  const original = data.join('\n')
  const rewritten = hideUsage(original)
  if (rewritten === null) return EMPTY
  if (rewritten === original) return event
  const others = lines.filter(line => line !== '' && !line.startsWith('data:'))
  return encoder.encode(`${[...others, `data: ${rewritten}`].join('\n')}\n\n`)
}
