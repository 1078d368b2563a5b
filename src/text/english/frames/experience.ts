/** Normalizes questions about what something is like. */
import { indexPhrases, matchPhrase } from '../../phrases.ts'
import { replaceWords, type Token } from '../../token.ts'

const feelFrames = indexPhrases([
  'what does it feel like to',
  'how does it feel to',
  'how does it feel like to',
  'what is it like to',
  'how is it to',
  'how is it like to',
])
/** "how is it in …" and the like ask what life is like there. */
const lifeFrames = indexPhrases(['how is life like in', 'how is life in', 'what is life like in'])

/** "How does it feel to live …": "what is it like to live …". */
export function writeExperience(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(feelFrames, tokens, 0)
  const life = matchPhrase(lifeFrames, tokens, 0)
  if (life > 0 && tokens[2]?.key !== 'Life') {
    const frame = replaceWords(tokens.slice(0, life), ['what', 'is', 'life', 'like', 'in'], 'question-frame')
    return [...frame, ...tokens.slice(life)]
  }
  if (length === 0) return tokens
  const frame = replaceWords(tokens.slice(0, length), ['what', 'is', 'it', 'like', 'to'], 'question-frame')
  return [...frame, ...tokens.slice(length)]
}
