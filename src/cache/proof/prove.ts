/** Decides whether one prompt's response may be served for another: only if every difference between them is known to be harmless. */
import type { PromptReading } from '../../text/read-prompt.ts'
import type { HarmlessKind } from '../../text/token.ts'
import { alignDifferences } from './align.ts'
import type { DifferenceKind } from './difference.ts'
import { isExchange } from './exchanges.ts'

export type Proof =
  | { readonly proved: true; readonly harmless: readonly HarmlessKind[] }
  | {
      readonly proved: false
      /** The first harmful difference, and its position in either text. */
      readonly kind: DifferenceKind
      readonly askedAt: number
      readonly cachedAt: number
    }

/**
 * Compares both normalized texts in order, token by token. Equal normalized texts are always proved. One word may be replaced by its
 * synonym. Symmetric; linear in time, except for texts short
 * enough to be prose.
 */
export function prove(asked: PromptReading, cached: PromptReading): Proof {
  if (asked.normalized === cached.normalized || isExchanged(asked, cached)) {
    const kinds = alignDifferences(asked, cached).flatMap(({ harmless }) => harmless ?? [])
    return { proved: true, harmless: [...new Set(kinds)] }
  }
  const difference = alignDifferences(asked, cached).find(({ harmless }) => harmless === null)
  return {
    proved: false,
    kind: difference?.kind ?? 'words',
    askedAt: difference?.askedAt ?? 0,
    cachedAt: difference?.cachedAt ?? 0,
  }
}

/** Whether all tokens are equal except for one exchanged word. */
function isExchanged(asked: PromptReading, cached: PromptReading): boolean {
  const [ours, theirs] = [asked.tokens, cached.tokens]
  if (!ours || !theirs || asked.language !== cached.language || ours.length !== theirs.length) return false
  const unequal = ours.flatMap((token, at) => (token.key === theirs[at]?.key ? [] : [at]))
  const [at, ...more] = unequal
  return at !== undefined && more.length === 0 && isExchange(ours, theirs, at)
}
