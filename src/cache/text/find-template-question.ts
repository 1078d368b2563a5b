/** Finds the question in an application's prompt, such as "You are a helpful assistant.\n\nQuestion: How do I …?\n\nAnswer in one sentence." */

import { omitDocuments } from './read-instructions.ts'

/** Longer texts between the marks are documents. */
const MAX_QUESTION_CHARS = 600
/** A shorter rest is a greeting or a label. */
const MIN_REST_CHARS = 15

export interface TemplateQuestion {
  question: string
  before: string
  after: string
}

const { raw } = String
const asker = '(?:user|customer|visitor|client|guest|human|current|new)'
const noun = '(?:question|query|message|input|request|frage|pregunta|domanda|pergunta)'
/** What encloses a question. A message that has several of one kind has no single question. */
const enclosures: readonly RegExp[] = [
  // <question>…</question>, [QUESTION]…[/QUESTION]
  new RegExp(raw`[<[]((?:${asker}[_ -]?)?${noun}|user|human|customer)[>\]](?<question>[^<>[\]]+)[<[]/\1[>\]]`, 'gi'),
  // """…"""
  /("""|'''|```)\s{0,4}(?<question>[^\n]{1,600}?)\s{0,4}\1/g,
  // Question: … Here is the customer's question: … Q: … The text ends with the line. A heading ends without a colon.
  new RegExp(
    raw`^[^\S\n]{0,8}(?:[^\n:?.!]{0,80}\b${noun}[^\n:?.!]{0,20}|[*#>-]{0,4}[^\S\n]{0,8}(?:(?:the|a) )?(?:q|${asker}(?: asks| says| wrote)?)\*{0,2}):\*{0,2}\s{0,4}(?<question>[^\n]+)$`,
    'gim',
  ),
  new RegExp(raw`^#{1,6}[^\S\n]{0,8}(?:${asker} )?${noun}[^\S\n]{0,8}\n\s{0,4}(?<question>[^\n]+)$`, 'gim'),
  // Answer in one sentence: … A user asks: "…"
  new RegExp(
    raw`(?:^|[.!,]\s{1,3})(?:(?:the |a )?${asker} (?:asks|wrote|writes|says)(?: the following)?|[^:.?\n]{0,40}\b(?:answer|reply|respond)\b[^:.?\n]{0,60}|q|[^:.?\n]{0,20}\b${noun}(?: is)?):\s{0,4}["“]?(?<question>[^?\n"“]{1,600}\?)`,
    'gim',
  ),
]

/** A sentence that ends in a question mark. */
const asks = /(?<=^|[.!]\s{1,2})[^.!?\n]{1,600}\?(?=\s|$)/gm
/** A sentence that instructs how to answer, beside which the only question is to be answered. */
const instructs =
  /(?:^|[.!?])\s{0,3}(?:you(?:['’]re| are)|(?:please )?(?:act|answer|respond|reply|explain|use|be|keep|give|write)|as an?|du bist|antworte|tu es|réponds|eres|responde|sei|rispondi|você é|responda)\b/im
/** Words that refer to the text beside them. */
const refers =
  /\b(?:this|these|following|below|above)\b|\b(?:the|each|every) (?:sentence|text|phrase|wording)\b|:\s*$/im
/** The question is named as a text. */
const asksAbout = /\b(?:this|following) (?:\w+ )?(?:sentence|text|phrase|word)s?\b/i

/** Returns the one question of an application's prompt and what surrounds it. Null for any other text. */
export function findTemplateQuestion(text: string): TemplateQuestion | null {
  for (const enclosure of enclosures) {
    const [found, ...others] = text.matchAll(enclosure)
    const { question = '' } = found?.groups ?? {}
    if (found) return others.length > 0 ? null : divide(text, found.index + found[0].lastIndexOf(question), question)
  }
  const found = text.matchAll(asks).next().value
  const divided = found ? divide(text, found.index, found[0]) : null
  if (!divided || refers.test(divided.before) || refers.test(divided.after)) return null
  return instructs.test(divided.before) || instructs.test(divided.after) ? divided : null
}

/** Returns the parts. Null if the rest has another question, names the question as a text, or is too short. */
function divide(text: string, start: number, enclosed: string): TemplateQuestion | null {
  const unquoted = enclosed.trim().replace(/^(?:"([^"]+)"|“([^“”]+)”)$/, '$1$2')
  const question = /^[^?]+\?(?=\s[^?]*$)/.exec(unquoted)?.[0] ?? unquoted
  const at = start + enclosed.indexOf(question)
  const [before, after] = [text.slice(0, at), text.slice(at + question.length)]
  if (question === '' || question.length > MAX_QUESTION_CHARS) return null
  const rest = omitDocuments(`${before}\n${after}`)
  return rest.includes('?') || asksAbout.test(rest) || rest.trim().length < MIN_REST_CHARS
    ? null
    : { question, before, after }
}
