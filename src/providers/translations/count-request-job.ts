/** The worker's job that counts a request's tokens. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { countInput } from '../../formats/translation.ts'
import type { JsonObject } from '../../json/canonical.ts'
import { parseExactly } from '../../json/exact-json.ts'
import type { ToTranslate } from './translate-request.ts'

export function run({ endpoint, bytes }: Pick<ToTranslate, 'endpoint' | 'bytes'>): JobDone<JsonObject> {
  return { output: countInput(endpoint, parseExactly(new TextDecoder().decode(bytes)) as JsonObject) }
}
