/** Tells what surrounds the user's message: nothing, instructions, or instructions to work on it ("translate what the user writes"). */

import { phraseList, wordSet } from './words.ts'

/** `work`: the message is material. `instructions`: it is a question to an assistant that has been told something. */
export type ContextKind = 'none' | 'instructions' | 'work'

/** `context` is the request's body without the message's text. */
export function classifyContext(context: unknown): ContextKind {
  if (hasText(context, handsOver)) return 'work'
  return hasText(context, text => text.trim() !== '') ? 'instructions' : 'none'
}

/** If a system prompt, an earlier turn or a schema contains one of these, the message's exact wording may matter. */
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
const LONGEST = 70
/** A context with more of these verbs is no ordinary prompt, and counts as handing the message over. */
const MAX_VERBS = 200
/** Longer texts are not searched, and count as handing the message over. */
const MAX_CHARS = 64_000

function hasText(context: unknown, isWanted: (text: string) => boolean): boolean {
  if (typeof context === 'string') return isWanted(context)
  if (typeof context !== 'object' || context === null) return false
  // Neither its bytes nor its name or address tell what to do.
  if ('type' in context && files.has(context.type)) return isWanted('a file')
  return Object.entries(context).some(([name, value]) => !settings.has(name) && hasText(value, isWanted))
}

function handsOver(text: string): boolean {
  return text.length > MAX_CHARS || speaksOfWork(text.toLowerCase())
}

/** Plain searches: a context may be long, and a pattern of so many words would take a hundred times as long. */
function speaksOfWork(lower: string): boolean {
  return workStems.some(stem => lower.includes(stem)) || workVerbs.some(verb => isDoneToText(lower, `${verb} `))
}

/** True for "Fix the user's sentence", but not for "generate text". */
function isDoneToText(lower: string, verb: string): boolean {
  let seen = 0
  for (let at = lower.indexOf(verb); at >= 0; at = lower.indexOf(verb, at + verb.length)) {
    seen += 1
    if (seen > MAX_VERBS) return true
    if (!/\p{L}/u.test(lower[at - 1] ?? ' ') && material.test(lower.slice(at, at + LONGEST))) return true
  }
  return false
}

/** Fields about how to answer and to whom: the model does not read them. */
const settings = wordSet(
  'model models user metadata provider transforms role type stop logit_bias service_tier reasoning_effort',
)

/** Types of parts, and of the sources of others. */
const files: ReadonlySet<unknown> = wordSet('image_url video_url input_image input_file input_audio file base64 url')
