/** Finds the question in an application's prompt, such as "You are a helpful assistant.\n\nQuestion: How do I …?\n\nAnswer in one sentence." */

import { omitDocuments } from './read-instructions.ts'

/** Longer texts between the marks are documents. */
const MAX_QUESTION_CHARS = 600

export interface TemplateQuestion {
  question: string
  before: string
  after: string
}

const { raw } = String
const asker = '(?:user|customer|visitor|client|guest|human|employee|student|patient|member|current|new)'
const noun = '(?:question|query|message|request|frage|pregunta|domanda|pergunta)'
/** A label, which names nothing but the question: "Here is the customer's question", "User", "My question is". */
const label = raw`(?:(?:here|this|below) is )?(?:(?:the|a|an|my|our) )?(?:(?:${asker}(?:['’]s)?[ _-])?(?:${noun}|input)(?: is)?|q|${asker}(?: (?:asks|says|writes|wrote)(?: the following)?)?)`
const endLabel = new RegExp(raw`(?:^|[\n.!,:]|#)\s{0,4}[*#]{0,4}\s?${label}\*{0,2}:?\*{0,2}\s*["“]?$`, 'i')
const quoteMark = /(?:"""|'''|```)\s{0,4}$/
/** What encloses a question. A message that has several of one kind has no single question. */
const enclosures: readonly RegExp[] = [
  // <question>…</question>, [QUESTION]…[/QUESTION]
  new RegExp(raw`[<[]((?:${asker}[_ -]?)?${noun}|user|human|customer)[>\]](?<question>[^<>[\]]+)[<[]/\1[>\]]`, 'gi'),
  // """…"""
  /("""|'''|```)\s{0,4}(?<question>[^\n]{1,600}?)\s{0,4}\1/g,
  // Question: … Here is the customer's question: … Q: … The text ends with the line. A heading ends without a colon.
  new RegExp(raw`^[^\S\n]{0,8}[*#>-]{0,4}[^\S\n]{0,8}${label}\*{0,2}:\*{0,2}\s{0,4}(?<question>[^\n]+)$`, 'gim'),
  new RegExp(raw`^#{1,6}[^\S\n]{0,8}(?:${asker} )?${noun}[^\S\n]{0,8}\n\s{0,4}(?<question>[^\n]+)$`, 'gim'),
  // Answer in one sentence: … A user asks: "…"
  new RegExp(
    raw`(?:^|[.!,]\s{1,3})(?:${label}|[^:.?\n]{0,40}\b(?:answer|reply|respond)\b[^:.?\n]{0,60}):\s{0,4}["“]?(?<question>[^?\n"“]{1,600}\?)`,
    'gim',
  ),
]

/** A sentence that ends in a question mark. */
const asks = /(?<=^|[.!]\s{1,2})[^.!?\n]{1,600}\?(?=\s|$)/gm
/** Words that refer to the text beside them. */
const refers =
  /\b(?:this|these|following|below|above)\b|\b(?:the|each|every) (?:sentence|text|phrase|wording)\b|:\s*$/im
/** Sentences that say to answer, or that describe who answers. */
const answers =
  /\b(?:answer|respond|reply|explain|help|assist|assistant|agent|bot|support|response|ai|expert|specialist|guide|desk|rep|tutor|teacher|coach|consultant|advis[eo]r|concierge|librarian|antwort\w*|répond\w*|respond\w*|rispond\w*)\b/i
/** The message named as a text. A sentence that names it must also say to answer. */
const namesMessage = /\b(?:question|query|message|request|input|text|this|it|following|below)s?\b/i
/** Parts, forms and styles of a text. The length of an answer is none: "in one sentence". */
const namesWording =
  /\b(?:letters?|characters?|vowels?|nouns?|verbs?|grammar|wording|spelling|punctuation|same|similar|backwards|phrase[ds]?|pronounce\w*|rephras\w*|meaning)\b|(?<!\b(?:one|two|three|four|five|few|short|simple|plain|full|complete|\d+|own|other) )\b(?:words?|sentences?)\b/i

/** Returns whether the text around a question does nothing but say how it should be answered. */
function onlyAnswers(rest: string): boolean {
  return (
    answers.test(rest) &&
    !namesWording.test(rest) &&
    rest
      .split(/[.!\n]+/)
      .every(
        sentence =>
          !namesMessage.test(sentence) ||
          answers.test(sentence) ||
          /\b(?:do(?:n['’]t| not)|keep|use|using|given|if|based)\b/i.test(sentence),
      )
  )
}

/** Returns the one question of an application's prompt and what surrounds it. Null for any other text. */
export function findTemplateQuestion(text: string): TemplateQuestion | null {
  for (const enclosure of enclosures) {
    const [found, ...others] = text.matchAll(enclosure)
    const { question = '' } = found?.groups ?? {}
    if (found) return others.length > 0 ? null : divide(text, found.index + found[0].lastIndexOf(question), question)
  }
  const found = text.matchAll(asks).next().value
  const divided = found ? divide(text, found.index, found[0]) : null
  return divided && !refers.test(divided.before) && !refers.test(divided.after) ? divided : null
}

/** Returns the parts. Null if the rest has another question, or names the question as a text. */
function divide(text: string, start: number, enclosed: string): TemplateQuestion | null {
  const unquoted = enclosed.trim().replace(/^(?:"([^"]+)"|“([^“”]+)”)$/, '$1$2')
  const question = /^[^?]+\?(?=\s[^?]*$)/.exec(unquoted)?.[0] ?? unquoted
  const at = start + enclosed.indexOf(question)
  const [before, after] = [text.slice(0, at), text.slice(at + question.length)]
  if (question === '' || question.length > MAX_QUESTION_CHARS) return null
  const rest = omitDocuments(`${before.replace(quoteMark, '').replace(endLabel, '')}\n${after}`).replace(
    /<[^<>]*>|\[[^[\]]*\]/g,
    '\n',
  )
  return rest.includes('?') || !onlyAnswers(rest) ? null : { question, before, after }
}
