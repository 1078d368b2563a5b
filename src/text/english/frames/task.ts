/** Normalizes the task in a question for a method: "improve (my) English", "get (an) internship", "earn money" and "make money". */
import { indexPhrases, lowerKey, matchPhrase, startsWith } from '../../phrases.ts'
import { phraseList, replaceWords, rewrite, type Token, wordSet } from '../../token.ts'
import { functionWords } from '../openers.ts'
import { sites } from '../small-words.ts'
import { markDropped } from './dropped.ts'

/** Who follows the method: I, we, the addressee, someone, or anyone. */
export type Asker = 'first' | 'group' | 'addressed' | 'someone' | 'somebody' | 'anyone'

/** Possessives that refer to the person who follows the method. */
const owners: Readonly<Record<Asker, ReadonlySet<string>>> = {
  first: wordSet('my'),
  group: wordSet('our'),
  addressed: wordSet('your'),
  someone: wordSet("their one's"),
  somebody: wordSet("their one's"),
  anyone: wordSet("my your one's"),
}
/** Things that every person has and asks about for himself: the possessive does not matter. */
const attributes = indexPhrases(
  phraseList(`
  english
  spoken english
  height
  confidence
  self-confidence
  self confidence
  self-esteem
  self esteem
  anger
  temper
  weight
  stamina
  metabolism
  vocabulary
  handwriting
  posture
  iq
  willpower
  intuition
  communication skills
  writing skills
  speaking skills
  social skills
  listening skills
  typing speed
  reading speed
  credit score
  immune system
  immunity
  appetite
  eyesight
  creativity
`),
)
const attributeVerbs = wordSet(
  'improve increase boost control build develop lose gain overcome reduce raise enhance strengthen manage regain',
)
const accountParts = indexPhrases(
  phraseList(`
  password
  email address
  email id
  username
  profile picture
  profile photo
  phone number
  mobile number
`),
)
const accountVerbs = wordSet('change reset recover update')
/** Things that one gets or starts. A singular that needs an article means the same without it. */
const obtained = indexPhrases(
  phraseList(`
  internship
  job
  visa
  passport
  loan
  scholarship
  girlfriend
  boyfriend
  website
  blog
  resume
  cv
  startup
  bank account
  paypal account
  youtube channel
`),
)
const obtainingVerbs = wordSet('get find obtain start write create open make build')
const afterEarnings = wordSet('online from on through using via in with by at fast quickly without while')

/** Normalizes the task. Its first token is the verb. */
export function writeTask(tokens: readonly Token[], asker: Asker): readonly Token[] {
  return writeFast(writeOnline(writeSource(writeEarnings(dropArticle(dropOwner(tokens, asker))))))
}

/** Whether it is about something that every person has. */
export function isOwnAttribute(task: readonly Token[]): boolean {
  const length = attributeVerbs.has(lowerKey(task[0])) ? matchPhrase(attributes, task, 1) : 0
  return length > 0 && endsPhrase(task[1 + length])
}

/** Whether each person does it for himself: "how can we learn French", but not "how can we reduce waste". */
export function isPersonal(task: readonly Token[]): boolean {
  return /^(?:learn|speak|memorize)$/.test(lowerKey(task[0]))
}

function dropOwner(tokens: readonly Token[], asker: Asker): readonly Token[] {
  const [verb, owner] = tokens
  if (!verb || !owner || !owners[asker].has(lowerKey(owner))) return tokens
  const things = attributeVerbs.has(lowerKey(verb))
    ? attributes
    : accountVerbs.has(lowerKey(verb))
      ? accountParts
      : null
  const length = things ? matchPhrase(things, tokens, 2) : 0
  if (length === 0 || !endsPhrase(tokens[2 + length])) return tokens
  return [verb, ...markDropped(tokens.slice(2), 'frame-word')]
}

function dropArticle(tokens: readonly Token[]): readonly Token[] {
  const verb = lowerKey(tokens[0])
  const at = verb === 'apply' && lowerKey(tokens[1]) === 'for' ? 2 : 1
  if ((at === 1 && !obtainingVerbs.has(verb)) || !/^an?$/.test(lowerKey(tokens[at]))) return tokens
  const length = matchPhrase(obtained, tokens, at + 1)
  // "Get Visa" means the card, "get a visa" does not.
  if (
    length === 0 ||
    tokens.slice(at + 1, at + 1 + length).some(({ key }) => /^\p{Lu}\p{Ll}/u.test(key)) ||
    !endsPhrase(tokens[at + 1 + length])
  )
    return tokens
  return [...tokens.slice(0, at), ...markDropped(tokens.slice(at + 1), 'frame-word')]
}

/** "Earn money" becomes "make money", except where a mint could make it. */
function writeEarnings(tokens: readonly Token[]): readonly Token[] {
  const [verb, money, next] = tokens
  if (!verb || !money || !startsWith(tokens, 0, ['earn', 'money'])) return tokens
  const isWhole = next === undefined || afterEarnings.has(lowerKey(next))
  return isWhole ? [rewrite(verb, 'make', 'synonym'), ...tokens.slice(1)] : tokens
}

const sourceWords = wordSet('from through with using via on')
const earningThings = wordSet('website blog youtube')

/** "Make money with a website", "through YouTube" become "from". "With friends" does not. */
function writeSource(tokens: readonly Token[]): readonly Token[] {
  const way = tokens[2]
  if (!way || !startsWith(tokens, 0, ['make', 'money']) || !sourceWords.has(lowerKey(way))) return tokens
  const at = /^(?:an?|my)$/.test(lowerKey(tokens[3])) ? 4 : 3
  const thing = lowerKey(tokens[at])
  const isSource = (sites.has(thing) || earningThings.has(thing)) && endsPhrase(tokens[at + 1])
  return isSource ? [...tokens.slice(0, 2), rewrite(way, 'from', 'frame-word'), ...tokens.slice(3)] : tokens
}

/** "… on the internet", at the end. */
function writeOnline(tokens: readonly Token[]): readonly Token[] {
  if (lowerKey(tokens.at(-1)) !== 'internet') return tokens
  const at = tokens.length - (lowerKey(tokens.at(-2)) === 'the' ? 3 : 2)
  if (at < 1 || lowerKey(tokens[at]) !== 'on') return tokens
  return [...tokens.slice(0, at), ...replaceWords(tokens.slice(at), ['online'], 'synonym')]
}

/** "… quickly" and "… fast", at the end. */
function writeFast(tokens: readonly Token[]): readonly Token[] {
  const last = tokens.at(-1)
  return last && tokens.length > 2 && last.key === 'quickly'
    ? [...tokens.slice(0, -1), rewrite(last, 'fast', 'synonym')]
    : tokens
}

const manners = wordSet('fast quickly easily online naturally')

function endsPhrase(next: Token | undefined): boolean {
  return next === undefined || next.kind === 'mark' || functionWords.has(lowerKey(next)) || manners.has(lowerKey(next))
}
