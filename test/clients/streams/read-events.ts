/** What an event stream says, event by event, for tests that look at the very chunks. */
import { createSseParser } from '../../../src/formats/sse/sse.ts'

/** The parsed data of each event up to `[DONE]`. */
export function readEvents(text: string): unknown[] {
  const data: string[] = []
  const parser = createSseParser(event => data.push(event.data))
  parser.push(new TextEncoder().encode(text))
  parser.end()
  const done = data.findIndex(item => item.trim() === '[DONE]')
  return data.slice(0, done < 0 ? data.length : done).map(item => JSON.parse(item))
}
