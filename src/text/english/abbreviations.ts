/** English abbreviations that stand for one thing alone. */
import { lowerKey } from '../phrases.ts'
import { replaceWords, rewrite, type Token, wordSet } from '../token.ts'

/** Before these letters in capitals, "US" is a country and never emphasis. */
const beforeCountry = wordSet('the in of from to across within throughout')
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
    return token.key === 'TV' || token.key === 'tv'
      ? [rewrite({ ...token, kind: 'word' }, 'television', 'abbreviation')]
      : [token]
  })
}

/** "In the US", "in US": the country has its article. */
function withArticle(before: string, tokens: Token[]): Token[] {
  const [first] = tokens
  if (!first || before !== 'in') return tokens
  return [...replaceWords([first], ['the'], 'frame-word'), ...tokens]
}
