/** English abbreviations with one meaning only. */
import { lowerKey } from '../phrases.ts'
import { replaceWords, rewrite, type Token, wordSet } from '../token.ts'
import { functionWords } from './openers.ts'

/** After these words, "US" in capitals is the country, not emphasis. */
const beforeCountry = wordSet('the in of from to across within throughout')
const beforeTelevision = wordSet('is on a an the my your watch watching of for than indian american best favorite')
const afterTelevision = wordSet(
  'show shows series set sets channel channels program programs bad good harmful addictive',
)
const unitedStates = wordSet('US USA U.S. U.S.A. U.S U.S.A')

export function expandAbbreviations(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, at) => {
    const before = lowerKey(tokens[at - 1])
    if (unitedStates.has(token.key)) {
      const isCountry = beforeCountry.has(before) || token.key !== 'US'
      return isCountry ? withArticle(before, replaceWords([token], ['united', 'states'], 'abbreviation')) : [token]
    }
    if (token.key === 'United' && tokens[at + 1]?.key === 'States') {
      return withArticle(before, [rewrite(token, 'united', 'known-name')])
    }
    if (token.key === 'States' && tokens[at - 1]?.key === 'United') return [rewrite(token, 'states', 'known-name')]
    return isTelevision(tokens, at) ? [rewrite({ ...token, kind: 'word' }, 'television', 'abbreviation')] : [token]
  })
}

/** "On TV", "a TV set". A name is not expanded: "Apple TV", "TV Tropes". */
function isTelevision(tokens: readonly Token[], at: number): boolean {
  if (!/^(?:TV|tv)$/.test(tokens[at]?.key ?? '')) return false
  const next = tokens[at + 1]
  const isWhole = next === undefined || next.kind === 'mark' || functionWords.has(lowerKey(next))
  return beforeTelevision.has(lowerKey(tokens[at - 1])) && (isWhole || afterTelevision.has(lowerKey(next)))
}

/** "In the US", "in US": the country gets its article. */
function withArticle(before: string, tokens: Token[]): Token[] {
  const [first] = tokens
  if (!first || before !== 'in') return tokens
  return [...replaceWords([first], ['the'], 'frame-word'), ...tokens]
}
