/** Marks where words were left out, for people to see why two texts are equal. */
import type { HarmlessKind, Token } from '../../token.ts'

/** The first token with one more reason; all as they are where there is none. */
export function markDropped(tokens: readonly Token[], kind: HarmlessKind | null): Token[] {
  return tokens.map((token, at) => (at === 0 && kind ? { ...token, rewritten: [...token.rewritten, kind] } : token))
}
