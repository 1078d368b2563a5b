/** Lays two questions side by side: which words of one have no counterpart in the other. */
import type { Comparison, GuardFeatures, Leftover } from './guard.ts'
import { synonyms } from './lexicon/synonyms.ts'
import { shareGroup } from './lexicon/word-list.ts'
import { isNegationOf } from './reading/negations.ts'
import { areRelated, isAgentOf } from './reading/related-words.ts'
import { isCapitalised, type Token } from './reading/token.ts'

/** Beyond this many words without counterpart, two texts are different ones, and pairing them up would not be linear. */
const mostPaired = 32

/** The comparison that guards look at. */
export function compare(asked: GuardFeatures, cached: GuardFeatures): Comparison {
  const onlyAsked = missingFrom(cached, asked)
  const onlyCached = missingFrom(asked, cached)
  if (onlyAsked.length > mostPaired || onlyCached.length > mostPaired) return { asked, cached, onlyAsked, onlyCached }
  const hasCounterpart = (one: Leftover, others: readonly Leftover[]) =>
    others.some(other => areCounterparts(one.token, other.token, asked, cached))
  return {
    asked,
    cached,
    onlyAsked: onlyAsked.filter(leftover => !hasCounterpart(leftover, onlyCached)),
    onlyCached: onlyCached.filter(leftover => !hasCounterpart(leftover, onlyAsked)),
  }
}

function missingFrom(other: GuardFeatures, own: GuardFeatures): Leftover[] {
  const missing: Leftover[] = []
  for (const [at, token] of own.tokens.entries()) {
    if (token.kind !== 'word' || token.weight === 'function' || asksHow(own.tokens, at, other)) continue
    if (!token.forms.some(form => other.forms.has(form))) missing.push({ token, at })
  }
  return missing.length === 0 ? missing : withoutCompounds(missing, own, other)
}

/** "Long" in "how long" belongs to the question word, and so do the days of "how many days" where the other asks "how long". */
function asksHow(tokens: readonly Token[], at: number, other: GuardFeatures): boolean {
  const before = tokens[at - 1]?.key
  if (before === 'how') return /^(?:long|far|often|old)$/.test(tokens[at]?.key ?? '')
  return before === 'many' && tokens[at - 2]?.key === 'how' && / (?:how long|when) /.test(other.phrase)
}

/** "start up" is "startup" and "hip-hop" is "hip hop", whichever side writes it in one. */
function withoutCompounds(missing: readonly Leftover[], own: GuardFeatures, other: GuardFeatures): Leftover[] {
  const joined = new Set(other.tokens.map((token, at) => token.key + (other.tokens[at + 1]?.key ?? '')))
  return missing.filter(({ token, at }) => {
    const before = (own.tokens[at - 1]?.key ?? '') + token.key
    const after = token.key + (own.tokens[at + 1]?.key ?? '')
    return !(joined.has(token.key) || other.forms.has(before) || other.forms.has(after))
  })
}

function areCounterparts(one: Token, other: Token, asked: GuardFeatures, cached: GuardFeatures): boolean {
  const asksWho = asked.kinds.has('who') && cached.kinds.has('who')
  const isName = isNamed(one, asked, cached) || isNamed(other, asked, cached)
  for (const form of one.forms) {
    for (const otherForm of other.forms) {
      if (areRelated(form, otherForm) || isNegationOf(form, otherForm)) return true
      if (asksWho && isAgentOf(form, otherForm)) return true
      if (!isName && shareGroup(synonyms, form, otherForm)) return true
    }
  }
  return false
}

function isNamed(token: Token, asked: GuardFeatures, cached: GuardFeatures): boolean {
  return isCapitalised(token) && !token.opensSentence && asked.capitals !== 'title' && cached.capitals !== 'title'
}
