/** Questions for a recommendation: "which is the best book". */
import { lowerKey, startsWith } from '../../phrases.ts'
import { rewrite, type Token, wordSet } from '../../token.ts'
import { markDropped } from './dropped.ts'
import { advisedNouns } from './frame-words.ts'

const beforeComplement = wordSet(
  'for to in of on at by with from that which you i we to ever under about near around and or when while if',
)

/** "Which is the best book", "what are some of the best books", "which book is the best": a recommendation either way. */
export function writeAdvice(tokens: readonly Token[]): readonly Token[] {
  const [asked, verb] = tokens
  if (!asked || !verb || !/^(?:what|which)$/.test(lowerKey(asked))) return tokens
  if (!/^(?:is|are)$/.test(lowerKey(verb))) return writeAdviceOf(tokens)
  const article = ['some of the', 'the'].map(phrase => phrase.split(' ')).find(words => startsWith(tokens, 2, words))
  const from = 2 + (article?.length ?? 0)
  const best = tokens[from]
  if (!best || lowerKey(best) !== 'best' || tokens.length < from + 2) return tokens
  const end = tokens.findIndex(
    (token, at) => at > from && (token.kind === 'mark' || beforeComplement.has(lowerKey(token))),
  )
  const head = (end === -1 ? tokens.length : end) - 1
  const noun = tokens[head]
  const single = noun && advisedNouns.get(noun.key)
  const kept = markDropped([rewrite(best, 'best', 'sentence-capital')], article ? 'frame-word' : null)
  if (!noun || single === undefined) {
    return article?.length === 3 && lowerKey(verb) !== 'are'
      ? tokens
      : [asked, verb, ...kept, ...tokens.slice(from + 1)]
  }
  return [
    rewrite(asked, 'what', 'question-frame'),
    rewrite(verb, 'is', 'inflection'),
    ...kept,
    ...tokens.slice(from + 1, head),
    rewrite(noun, single, 'inflection'),
    ...dropEver(tokens.slice(head + 1)),
  ]
}

/** "Which book is (the) best …". */
function writeAdviceOf(tokens: readonly Token[]): readonly Token[] {
  const [asked, noun, verb] = tokens
  const at = lowerKey(tokens[3]) === 'the' ? 4 : 3
  const best = tokens[at]
  const single = noun && advisedNouns.get(noun.key)
  if (!asked || !noun || !verb || !best || single === undefined || lowerKey(best) !== 'best') return tokens
  const rest = tokens.slice(at + 1)
  const isAgreed = /^(?:is|are)$/.test(lowerKey(verb)) && rest.length > 0 && /^(?:for|to|in)$/.test(lowerKey(rest[0]))
  if (!isAgreed) return tokens
  return [
    rewrite(asked, 'what', 'question-frame'),
    rewrite(verb, 'is', 'inflection'),
    ...markDropped([best], 'question-frame'),
    rewrite(noun, single, 'inflection'),
    ...rest,
  ]
}

/** "The best joke you have (ever) heard". */
function dropEver(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap((token, at) => {
    const isLoose = token.key === 'ever' && (at === 0 || lowerKey(tokens[at - 1]) === 'have')
    if (isLoose) return []
    return tokens[at - 1]?.key === 'ever' ? markDropped([token], 'frame-word') : [token]
  })
}
