/** Classifies the context of the user's message: none, instructions, or instructions to process the message ("translate what the user writes"). */

import { phraseList, wordSet } from './words.ts'

/** `work` means that the message is material to process. `instructions` means that it is a question to an assistant with instructions. */
export type ContextKind = 'none' | 'instructions' | 'work'

/** Classifies a context, which is the request's body without the message's text. */
export function classifyContext(context: unknown): ContextKind {
  if (hasText(context, requestsProcessing)) return 'work'
  return hasText(context, text => text.trim() !== '') ? 'instructions' : 'none'
}

/** Word stems in a system prompt, an earlier turn or a schema after which the message's exact wording may matter. */
const workStems = phraseList(`
  translat| transliterat| rewrit| rephras| reword| paraphras| proofread| proof-read| summari| classif| categori| sentiment| extract| parser|
  parsing| tokeniz| transcri| convert| revers| echo| parrot| repeat| uppercas| lowercas| capitali| gramma| spelling| misspel| punctuat| typos|
  anagram| rhym| verbatim| redact| anonymi| moderat| encod| decod| cipher| regex| annotat| label| intent| entit| keyword| synonym| autocomplet|
  correct the| correct any| correct all| correct every| correct my| correct user| correcti| corrector| corrects| polite| rude| greet| user message|
  user's message| user’s message| user input| user's input| user prompt| user query| user's query| user text| utterance| the input| given text|
  provided text| following text| following sentence| search quer| terminal| console| shell| interpreter| emulat| simulat| role-play| roleplay|
  chat title| title for| titles for| subject line| word game| same tone| same style| übersetz| korrigier| zusammenfass| umformulier| tradui| traduc|
  traduz| corrig| résum| resum| reformul| tłumacz| popraw| streść| vertaal| översätt| çevir| 翻译| 翻譯| 翻訳| 번역| перев| исправ| अनुवाद| ترجم
`)
const workVerbs = phraseList(`
  fix| count| polish| improve| edit| check| judge| rate| score| grade| evaluate| assess| analyse| analyze| detect| adapt| match| mirror
`)

const material =
  /^.{3,60}\b(?:text|messages?|sentences?|input|prompts?|words?|writing|wording|tone|style|language|letters|characters|english)\b/s
const MAX_PHRASE_CHARS = 70
/** A context with more of these verbs is treated as `work`. */
const MAX_VERBS = 200
/** Longer texts are not searched and are treated as `work`. */
const MAX_CHARS = 64_000

function hasText(context: unknown, isWanted: (text: string) => boolean): boolean {
  if (typeof context === 'string') return isWanted(context)
  if (typeof context !== 'object' || context === null) return false
  // The bytes, name and address of a file contain no instructions.
  if ('type' in context && files.has(context.type)) return isWanted('a file')
  return Object.entries(context).some(([name, value]) => !settings.has(name) && hasText(value, isWanted))
}

function requestsProcessing(text: string): boolean {
  return text.length > MAX_CHARS || mentionsProcessing(text.toLowerCase())
}

/** Searches for the words one by one. A single pattern of so many words would take a hundred times as long. */
function mentionsProcessing(lower: string): boolean {
  return workStems.some(stem => lower.includes(stem)) || workVerbs.some(verb => appliesToText(lower, `${verb} `))
}

/** Returns true for "Fix the user's sentence", but not for "generate text". */
function appliesToText(lower: string, verb: string): boolean {
  let seen = 0
  for (let at = lower.indexOf(verb); at >= 0; at = lower.indexOf(verb, at + verb.length)) {
    seen += 1
    if (seen > MAX_VERBS) return true
    if (!/\p{L}/u.test(lower[at - 1] ?? ' ') && material.test(lower.slice(at, at + MAX_PHRASE_CHARS))) return true
  }
  return false
}

/** Fields that control the request and that the model does not read. */
const settings = wordSet(
  'model models user metadata provider transforms role type stop logit_bias service_tier reasoning_effort',
)

/** Types of file parts, and of their sources. */
const files: ReadonlySet<unknown> = wordSet('image_url video_url input_image input_file input_audio file base64 url')
