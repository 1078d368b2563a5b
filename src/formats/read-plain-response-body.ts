/** Reads a plain response: a JSON object, or the event stream that some providers send instead. */

import type { AssembledStream, StreamAssembler } from './api-format.ts'
import { isJsonObject, type JsonObject, parseJson } from './json/canonical.ts'
import { beginsStream, createSseParser } from './sse/sse.ts'

export interface PlainResponseBody {
  body: JsonObject
  /** The stream that the body was assembled from; null if the body was a JSON object. */
  stream: AssembledStream | null
}

/** Returns null for anything else, such as HTML. `parse` parses JSON. */
export function readPlainResponseBody(
  bytes: Uint8Array,
  openAssembler: () => Pick<StreamAssembler, 'push' | 'finish'>,
  parse: (text: string) => unknown = parseJson,
): PlainResponseBody | null {
  const text = new TextDecoder().decode(bytes)
  const parsed = parse(text)
  if (isJsonObject(parsed)) return { body: parsed, stream: null }
  if (!beginsStream(text)) return null
  const assembler = openAssembler()
  const push = ({ data, event }: { data: string; event: string | null }) => assembler.push(data, event)
  const parser = createSseParser(push, push)
  parser.push(bytes)
  parser.end()
  const stream = assembler.finish()
  return { body: stream.body, stream }
}
