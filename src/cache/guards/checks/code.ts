/** Vetoes when the code in two questions differs in any character. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { surplus } from './bags.ts'

export const code: Guard<'code'> = {
  name: 'code',
  differs: ({ asked, cached }) =>
    surplus(asked.code, cached.code).some(span => !isWordOf(cached, span)) ||
    surplus(cached.code, asked.code).some(span => !isWordOf(asked, span)) ||
    !sameLines(asked.indentedLines, cached.indentedLines),
}

/** A name in backticks on one side may stand without them on the other. */
function isWordOf(features: GuardFeatures, span: string): boolean {
  return features.code.length === 0 && features.tokens.some(token => token.raw === span)
}

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at])
}
