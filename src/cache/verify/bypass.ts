/** Finds prompts that are never matched semantically, because their answer changes with time or they request an action. */

import type { NormalizedPrompt } from '../text/normalize-prompt.ts'
import {
  timeSensitiveCharacters,
  timeSensitivePhrases,
  timeSensitiveTopics,
  timeSensitiveWords,
  transientFactPattern,
} from '../text/time-sensitive-words.ts'
import { wordSet } from '../text/words.ts'
import { isTimeless } from './timeless.ts'

const phrases = [...timeSensitiveWords, ...timeSensitivePhrases, ...timeSensitiveTopics].map(phrase =>
  phrase.split(' '),
)
const phrasesByFirstWord = Map.groupBy(phrases, ([first]) => first)
const freshCharacter = new RegExp(timeSensitiveCharacters.join('|'), 'u')
const word = /[\p{L}\p{M}\p{N}']+/gu
/** Quotations and code, which are not the user's own words. */
const quotedText = /`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”/g

/**
 * Returns `fresh` when the answer depends on the time of the request, and `action` when the prompt requests an action. Null for all other
 * texts, and for texts too long for a semantic match.
 */
export function findBypassReason({ text, isSemantic }: NormalizedPrompt): 'fresh' | 'action' | null {
  if (!isSemantic) return null
  const prose = text.replace(quotedText, ' ').replaceAll('’', "'")
  const words = prose.match(word) ?? []
  if (isFresh(prose, words)) return 'fresh'
  return isAction(prose.toLowerCase().match(/[\p{L}\p{N}#$€£'.-]+/gu) ?? []) ? 'action' : null
}

function isFresh(prose: string, words: readonly string[]): boolean {
  const lower = words.map(each => each.toLowerCase())
  const hasName = words.some((each, at) => at > 0 && isCapitalised(each) && !/^I\b/.test(each))
  return (
    freshCharacter.test(prose) ||
    transientFactPattern.test(lower.join(' ')) ||
    lower.some((each, start) =>
      (phrasesByFirstWord.get(each) ?? phrasesByFirstWord.get(each.replace(/'s$/, '')) ?? []).some(
        phrase =>
          phrase.every((word, at) => at === 0 || word === lower[start + at]) &&
          !(phrase.length === 1 && isPartOfName(words, start)) &&
          !isTimeless(lower, start, start + phrase.length, hasName),
      ),
    )
  )
}

/** Returns whether the word is part of a capitalised name, in a text that does not capitalise every word: "USA Today", "Apocalypse Now". */
function isPartOfName(words: readonly string[], at: number): boolean {
  const before = words[at - 1]
  if (at < 2 || before === undefined || !isCapitalised(words[at]) || !isCapitalised(before)) return false
  return words.filter(isCapitalised).length <= words.length / 2
}

function isCapitalised(each: string | undefined): boolean {
  const first = each?.[0] ?? ''
  return first !== first.toLowerCase()
}

/** Verbs that request an action when the object belongs to the user or has a number: "close my account", "transfer $500". */
const actionVerbs = wordSet(`
  cancel close shut stop open transfer move send wire pay buy sell order book reserve schedule reschedule postpone cancel delete remove
  erase block unblock freeze unfreeze lock unlock activate deactivate enable disable subscribe unsubscribe upgrade downgrade renew
  refund return reimburse dispute report replace reset change update modify increase raise decrease lower reduce withdraw deposit
  redeem apply enroll enrol register submit file approve reject confirm accept decline assign invite add call text email message
  notify remind ship deliver track place make post publish share upload restart reboot deploy rollback merge revert terminate
  suspend resume pause extend waive charge debit credit dispatch forward reply archive mute turn switch set start play
  connect disconnect link unlink verify sign log
`)

/** Verbs that request an action with one of `actionObjects`, whoever owns it: "set an alarm". */
const deviceVerbs = wordSet('set turn switch play dim start stop snooze call order book remind')

const actionObjects = wordSet(
  'alarm timer reminder light lights thermostat music playlist heating heater lamp fan tv taxi cab uber ambulance pizza table me',
)

const openings = wordSet(
  "please pls plz kindly hi hello hey ok okay now just go ahead and can could would will you i i'd want need like to immediately",
)
const permissions = wordSet('can could may might should would will must')
const possessives = wordSet('my our me us this that it these those him her them')

/** Returns whether the text begins with a verb that acts on the user's own things. "delete a file in Linux" asks for a method. */
function isAction(words: readonly string[]): boolean {
  const [first = '', second = ''] = words
  if (permissions.has(first) && (second === 'i' || second === 'we')) return false
  const at = words.findIndex(each => !openings.has(trimPunctuation(each)))
  const verb = trimPunctuation(words[at] ?? '')
  const rest = words.slice(at + 1).map(trimPunctuation)
  if (deviceVerbs.has(verb) && rest.some(each => actionObjects.has(each))) return true
  return actionVerbs.has(verb) && rest.some(each => possessives.has(each) || /\d/.test(each))
}

function trimPunctuation(each: string): string {
  return each.replace(/[.'-]$/, '')
}
