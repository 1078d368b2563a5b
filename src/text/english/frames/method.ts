/** Normalizes questions for a method: "how do I", "how to", "what is the way to". */
import { indexPhrases, lowerKey, matchPhrase } from '../../phrases.ts'
import { phraseList, replaceWords, type Token, wordSet } from '../../token.ts'
import { craftVerbs, doingVerbs, genericVerbs } from './frame-words.ts'
import { type Asker, isOwnAttribute, isPersonal, writeTask } from './task.ts'

/** Forms of asking for a method, by who follows it; a verb of action must come next. */
const askers: ReadonlyArray<readonly [Asker, string]> = [
  [
    'first',
    `
    how do i
    how can i
    what can i do to
    what should i do to
    what do i need to do to
    what do i have to do to
  `,
  ],
  [
    'group',
    `
    how do we
    how can we
  `,
  ],
  [
    'addressed',
    `
    how do you
    how can you
  `,
  ],
  [
    'someone',
    `
    how does one
    how can one
    how does someone
    what can one do to
  `,
  ],
  [
    'somebody',
    `
    how can someone
    how can anyone
  `,
  ],
  [
    'anyone',
    `
    how to
    what is the way to
    what is the best way to
    what is best way to
    what is a way to
    what is a good way to
    what are ways to
    what are the ways to
    what are some ways to
    what are good ways to
    what are some good ways to
    what are the best ways to
    what are some of the best ways to
    which is the best way to
  `,
  ],
]
const frames = askers.map(([asker, phrases]) => ({ asker, index: indexPhrases(phraseList(phrases)) }))

/** States that people get into without intention: "how do I get sick". */
const states = wordSet(`
  sick ill hurt lost fired scammed caught fat old tired hacked robbed sued dizzy headaches acne bored angry scared nervous confused drunk
  worse cancer covid aids diabetes flu spam rash rashes hives cramps nightmares hiccups migraines blisters infections bad no
  pregnant arrested banned blocked stuck dumped sunburned addicted anxious lonely depressed cold hot hungry sleepy
`)
/** Verbs of what also happens by itself, with what one does on purpose: "how do I lose weight", but not "how do I lose friends". */
const unwilled: Readonly<Record<string, RegExp>> = {
  lose: /^(?:my )?(?:\w+ )?(?:weight|fat|pounds|kgs?|kilos|inches)\b|^\d+|^an? (?:accent|tail)\b/,
  fall: /^(?:asleep|in love|out of love|back asleep)\b/,
  wake: /^(?:up )?(?:early|earlier|on time|without|a |an |someone|my )/,
  forget: /^(?:my ex|the past|someone|about|him|her|my |a )/,
  attract: /^(?:women|men|girls|guys|boys|customers|clients|investors|money|wealth|birds|more|new|a |my )/,
  break: /^(?!out\b)/,
}
const bareVerbs = wordSet(
  'swim cook sew knit whistle draw paint drive study code dance sing hack teach read write speak',
)
const firstPerson = wordSet('i me my mine myself we us our ours ourselves')
const anyPerson: ReadonlySet<string> = new Set([
  ...firstPerson,
  'you',
  'your',
  'yours',
  'yourself',
  'one',
  'their',
  'they',
])

/** "How do I reset …" becomes "how to reset …". */
export function writeMethod(tokens: readonly Token[]): readonly Token[] {
  const found = frames.find(({ index }) => matchPhrase(index, tokens, 0) > 0)
  if (!found) return tokens
  const length = matchPhrase(found.index, tokens, 0)
  const verb = lowerKey(tokens[length])
  const task = writeTask(tokens.slice(length), found.asker)
  const words = task.map(lowerKey)
  if (!doingVerbs.has(verb) || isState(words) || isBare(words) || !isAnyones(found.asker, task)) return tokens
  return [...replaceWords(tokens.slice(0, length), ['how', 'to'], 'question-frame'), ...task]
}

/** Whether the method is the same for everyone. */
function isAnyones(asker: Asker, task: readonly Token[]): boolean {
  const [verb = '', ...rest] = task.map(lowerKey)
  if (asker === 'first' || asker === 'anyone') return true
  if (rest.some(word => anyPerson.has(word))) return false
  if (asker === 'group') return craftVerbs.has(verb) || isPersonal(task)
  // "How can anyone eat snails" wonders at those who do.
  if (asker === 'somebody') return /^(?:become|learn)$/.test(verb) || isOwnAttribute(task)
  if (asker === 'addressed')
    return genericVerbs.has(verb) || (verb === 'get' && rest[0] === 'rid') || isOwnAttribute(task)
  return true
}

/** "How do I grow", "how do I forget": the object may be missing. */
function isBare([verb = '', ...more]: readonly string[]): boolean {
  return more.filter(Boolean).length === 0 && !bareVerbs.has(verb)
}

/** "How do I compare to others", "how do I perform under pressure", "how do I get so tired" ask about a state of the user. */
function isState([verb = '', next = '', ...more]: readonly string[]): boolean {
  if (next === 'so' || next === 'as' || more.includes('so')) return true
  // "A rash" and "my period" come, too.
  const gotten = /^(?:an?|my|the)$/.test(next) ? (more[0] ?? '') : next
  if (verb === 'get' && (states.has(gotten) || gotten === 'period')) return true
  if (unwilled[verb]?.test([next, ...more].join(' ')) === false) return true
  if (verb === 'end' || (verb === 'keep' && next.endsWith('ing'))) return true
  if (verb === 'compare' || verb === 'perform') return /^(?:to|with|against|under|at|in|on|)$/.test(next)
  return verb === 'measure' && next === 'up'
}
