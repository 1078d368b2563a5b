/** Whom a request is for, as its client names them. */
import type { JsonObject } from './json/canonical.ts'

/** OpenAI's safety_identifier, else user, else metadata.user_id, which is Anthropic's too. Null: nobody is named. */
export function endUserOf({ safety_identifier, user, metadata }: JsonObject): string | null {
  const tagged = (metadata as { user_id?: unknown } | null | undefined)?.user_id
  const named = [safety_identifier, user, tagged].find(each => each !== undefined && each !== null && each !== '')
  // Who is named by something else than text is still somebody.
  return named === undefined || typeof named === 'string' ? (named ?? null) : JSON.stringify(named)
}
