/** The worker's job that translates a long chat request into an Anthropic request. */
import type { JobDone } from '../../../event-loop/off-loop.ts'
import type { JsonObject } from '../../../json/canonical.ts'
import { parseExactly } from '../../../json/exact-json.ts'
import { type LongChat, type LongTranslatedChat, translateBody } from './translate-chat.ts'

export function run({ bytes, limits }: LongChat): JobDone<LongTranslatedChat> {
  const body = parseExactly(new TextDecoder().decode(bytes)) as JsonObject
  const { body: text, ...rest } = translateBody(body, limits)
  const output = new TextEncoder().encode(text)
  return { output: { ...rest, body: output }, transfer: [output.buffer as ArrayBuffer] }
}
