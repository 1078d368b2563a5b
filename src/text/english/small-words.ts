/** Function words with two forms and one meaning: "somebody" and "someone", "a" and "an", "in" and "on" a site. */
import { lowerKey, startsWith } from '../phrases.ts'
import { rewrite, type Token, wordSet } from '../token.ts'
import { auxiliaries } from './openers.ts'

const shapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ somebody: 'someone', anybody: 'anyone', everybody: 'everyone' }),
)
const beforeNoun = wordSet('a the be become becoming being')
/** Sites where people ask and post: "in" and "on" mean the same. */
export const sites = wordSet(
  'quora youtube facebook instagram whatsapp snapchat linkedin tumblr reddit pinterest tiktok',
)
const onSites = wordSet(`
  question questions answer answers account profile picture post posts photo photos video videos message messages language followers friends
  topic topics password name username
`)
/** Employers. Where their names are also places, prepositions differ. */
const employers = wordSet('google microsoft facebook netflix nvidia samsung nokia sony toyota airbnb spotify')
const engagements = wordSet('internship internships job jobs')

/** Examinations, with or without their article. */
const exams = wordSet(
  'GATE ACT SAT GRE GMAT LSAT MCAT CAT JEE NEET UPSC IELTS TOEFL gre gmat jee neet upsc ielts toefl',
)
const beforeExam = wordSet('for in take taking pass passing crack cracking clear clearing')

export function writeSmallWords(tokens: readonly Token[]): readonly Token[] {
  const written = tokens.map(writeSmallWord)
  return dropOrNot(written.filter((token, at) => !isExamArticle(token, written[at - 1], written[at + 1])))
}

function writeSmallWord(token: Token, at: number, all: readonly Token[]): Token {
  const [before, next] = [all[at - 1], all[at + 1]]
  const shape = shapes.get(token.key)
  // In "Is he a somebody", "how do I become somebody", the word means an important person.
  if (shape !== undefined && !beforeNoun.has(lowerKey(before))) return rewrite(token, shape, 'synonym')
  if (token.key === 'an' && next?.kind === 'word' && !/^(?:an?|the|or|and)$/.test(next.key))
    return rewrite(token, 'a', 'frame-word')
  if (token.key === '&' && isLong(before) && isLong(next)) return rewrite(token, 'and', 'abbreviation')
  if (/^(?:in|at)$/.test(token.key)) {
    const [noun, place] = [lowerKey(before), lowerKey(next)]
    const isAtEnd = all[at + 2] === undefined || all[at + 2]?.kind === 'mark'
    if (onSites.has(noun) && sites.has(place) && isAtEnd) return rewrite(token, 'on', 'frame-word')
    const isEmployer = (employers.has(place) && isAtEnd) || (isName(all.slice(at + 1)) && isSought(all))
    if (engagements.has(noun) && isEmployer) return rewrite(token, 'at', 'frame-word')
  }
  return token
}

function isExamArticle(token: Token, before: Token | undefined, next: Token | undefined): boolean {
  return token.key === 'the' && beforeExam.has(lowerKey(before)) && exams.has(next?.key ?? '')
}

/** Whether only names follow: two words, or one in capitals. A single word may be a place ("Jordan"), and IT is a trade. */
function isName(tokens: readonly Token[]): boolean {
  const [only, ...more] = tokens
  const isOneName = tokens.length > 0 && tokens.every(({ kind, key }) => kind === 'word' && /^\p{Lu}/u.test(key))
  return isOneName && (more.length > 0 || /^\p{Lu}{3,}$/u.test(only?.key ?? ''))
}

/** Distinguishes these jobs from jobs that a program runs. */
function isSought(tokens: readonly Token[]): boolean {
  return tokens.some(token => /^(?:get|find|apply)$/.test(lowerKey(token)))
}

/** A single letter before "&" is half of an abbreviation: "R & D". */
function isLong(token: Token | undefined): boolean {
  return token?.kind === 'word' && token.key.length > 2
}

/** After these, "or not" is no alternative: "Should I use and or not". */
const beforeAlternative = wordSet('and or not the a an to be is of with in')

/** "Is it safe or not" asks whether it is safe. */
function dropOrNot(tokens: readonly Token[]): readonly Token[] {
  const isAsked = auxiliaries.has(lowerKey(tokens[0])) && startsWith(tokens, tokens.length - 2, ['or', 'not'])
  const isOnly = tokens.filter(token => /^(?:or|whether|if)$/.test(lowerKey(token))).length === 1
  const isSpokenOf = tokens.slice(0, -2).some(token => token.kind === 'quotation' || /^(?:not|yes|no)$/.test(token.key))
  if (!isAsked || !isOnly || isSpokenOf || tokens.length < 5 || beforeAlternative.has(lowerKey(tokens.at(-3))))
    return tokens
  const kept = tokens.at(-3)?.key === ',' ? tokens.slice(0, -3) : tokens.slice(0, -2)
  const [first, ...rest] = kept
  return first ? [{ ...first, rewritten: [...first.rewritten, 'question-frame'] }, ...rest] : tokens
}
