/** Records that words were dropped, so that people can see why two texts are equal. */
import type { HarmlessKind, Token } from '../../token.ts'

/** Adds the reason to the first token; unchanged when there is none. */
export function markDropped(tokens: readonly Token[], kind: HarmlessKind | null): Token[] {
  return tokens.map((token, at) => (at === 0 && kind ? { ...token, rewritten: [...token.rewritten, kind] } : token))
}
