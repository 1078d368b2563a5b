/** Parses event streams, for tests that check single chunks. */
import { asObjects, isJsonObject, type JsonObject } from '../../../src/formats/json/canonical.ts'
import { createSseParser } from '../../../src/formats/sse/sse.ts'

/** Returns the parsed data of each event before `[DONE]`. */
export function readEvents(text: string): unknown[] {
  const data: string[] = []
  const parser = createSseParser(event => data.push(event.data))
  parser.push(new TextEncoder().encode(text))
  parser.end()
  const done = data.findIndex(item => item.trim() === '[DONE]')
  return data.slice(0, done < 0 ? data.length : done).map(item => JSON.parse(item))
}

/** Returns the fragments of tool calls in a chunk. */
export function callsOf(chunk: unknown): JsonObject[] {
  const choices = isJsonObject(chunk) ? asObjects(chunk.choices) : []
  return choices.flatMap(({ delta }) => (isJsonObject(delta) ? asObjects(delta.tool_calls) : []))
}

/** Returns the same chunks without the index of each tool call. */
export function withoutNumbers(chunks: readonly unknown[]): unknown[] {
  const copied = structuredClone([...chunks])
  for (const call of copied.flatMap(callsOf)) delete call.index
  return copied
}
