/** Distinguishes references to the present from general topics, methods, and values that a program computes. */

import { programNames } from '../text/form-sensitive.ts'
import { baseFormOf, countSenses, isEnglishWord, isNounOfKind, lemmasOf, type PartOfSpeech } from '../text/lexicon.ts'
import {
  timelessNowPattern,
  timelessWordsAfterCurrent,
  timelessWordsBeforeCurrent,
  timeSensitiveTopics,
} from '../text/time-sensitive-words.ts'
import { auxiliaries, functionWords } from '../text/words.ts'

const mention = /does (?:the )?_ mean|(?:opposite|meaning|definition) of _$|(?:you|i|to) say _ in /
const method =
  /^(?:(?:in|with|using) \S+ )?(?:how (?:to|(?:do|can|would|could) (?:i|you|we|one)) |what(?:'s| is| are) (?:the )?(?:\w+ ){0,2}(?:way|command|function|query|method|code|formula)s? )/

/** Returns whether the words from `start` to `end` do not refer to the time of the request. `hasName` is true if another word has a capital. */
export function isTimeless(lower: readonly string[], start: number, end: number, hasName: boolean): boolean {
  const found = lower.slice(start, end).join(' ')
  const [before = '', after = ''] = [lower[start - 1], lower[end]]
  const around = [...lower.slice(Math.max(0, start - 2), start), '_', ...lower.slice(end, end + 2)].join(' ')
  if (mention.test(around) || (found === 'now' && timelessNowPattern.test(around))) return true
  if (timeSensitiveTopics.includes(found)) return isGeneralQuestion(lower, start, end, hasName)
  const isMethod = method.test(lower.join(' '))
  if (relative.test(found) && isComputed(lower, start, end) && (isMethod || start === 0)) return true
  if (found !== 'current') return false
  // Electric current is a noun, and no other noun follows it. In a question for a method, "my current job" is general.
  if (after === '' || auxiliaries.has(after) || (before === 'between' && after === 'and')) return true
  if (isMethod && /^(?:my|your)$/.test(before)) return true
  return timelessWordsAfterCurrent.has(after) || timelessWordsBeforeCurrent.has(before)
}

const relative =
  /^(?:(?:today|yesterday|tomorrow)'?s?|current|latest|newest|(?:recent|current)ly|(?:this|last|past) .+|.+ ago)$/
const published = /^(?:version|release|update|feature|news|trend|stable|model|librar|framework)/

/** Returns whether a program computes the value when it runs: "today's date in Python", but not "a job in Python today". */
function isComputed(lower: readonly string[], start: number, end: number): boolean {
  const at = lower.findLastIndex(
    (each, at) =>
      /^(?:in|with|using|from)$/.test(each) && lower.slice(at + 1, at + 4).some(host => programNames.has(host)),
  )
  const rest = lower.slice(end, at < end ? undefined : at)
  if (at < 0 || rest.some(each => published.test(each) || (start === 0 && each.endsWith('s')))) return false
  const isAdverb = !/[yw]'?s$|^(?:current|latest|newest|recently)/.test(lower[start] ?? '')
  return !isAdverb || ((at === 0 || at >= end) && !isNoun(lower[start - 1]))
}

const stating = ['document', 'info', 'event', 'condition', 'status', 'quantity', 'degree', 'data', 'direction']
const specific = /^(?:in|for|on|at|to|between|near|around|from|like|of(?! an?$))(?: |$)/
const asking = /^(?:(?:what|how|why)(?: is| are| do| does|'s) |define |explain )/
const habit =
  /^(?:how (?:is|are)|(?:how|why|what|which|can|do|does)(?! is| are| you| we| i)) (?!.*\b(?:will|would|did|has|have)\b)(?:.* )?(?:affect|influenc|determin|impact|caus|driv|shap|chang|var[yi]|differ|fluctuat|depend|work|calculat|measur|predict)(?:e?s|e?d|e)?(?: |$)/

/** Returns whether the question is about a changing thing in general: "the time complexity", "how does the weather influence mood", "what is a stock price". */
function isGeneralQuestion(lower: readonly string[], start: number, end: number, hasName: boolean): boolean {
  const [text, before = '', after = '', beyond = ''] = [lower.join(' '), lower[start - 1], ...lower.slice(end)]
  const isOfThing = isNoun(after) && isEnglishWord(after)
  if (lower[start]?.startsWith('what')) return isOfThing
  const isOwned = lower[start] !== 'the' && (/^(?:my|your|our|their|this|.+'s)$/.test(before) || isNoun(before))
  if (hasName || isOwned || specific.test(`${after} ${beyond}`)) return false
  const isOne = after === 'of' || lower.slice(Math.max(0, start - 2), start).some(each => /^an?$/.test(each))
  const isKind = isOfThing && /^(?:of)?$/.test(beyond) && !isNounOfKind(baseFormOf(after), stating)
  return method.test(text) || habit.test(text) || ((isOne || isKind) && (start === 0 || asking.test(text)))
}

/** Returns whether the word is most often a noun, or unknown. */
function isNoun(word = ''): boolean {
  const count = (kind: PartOfSpeech) =>
    Math.max(0, ...lemmasOf(word).map(each => (each.kind === kind ? countSenses(each.word, kind) : 0)))
  return word !== '' && !functionWords.has(word) && count('n') >= Math.max(count('v'), count('a'))
}
