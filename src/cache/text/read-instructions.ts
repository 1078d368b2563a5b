/** Reads the texts of a request that may instruct the model. Documents, tools, and what the assistant wrote are left out. */

import { wordSet } from './words.ts'

/** Longer texts are read at both ends only. A text between is a document. */
const MAX_HEAD_CHARS = 24_000
const MAX_TAIL_CHARS = 8_000
/** A longer paragraph is a document, except for the first and the last one. */
const MAX_PARAGRAPH_CHARS = 800

/** Returns the texts that may contain instructions, without documents. A part that is a file is the empty text. */
export function readInstructions(context: unknown): readonly string[] {
  const texts: string[] = []
  collectTexts(context, texts)
  return texts
}

function collectTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    if (value.trim() !== '') texts.push(omitDocuments(value))
  } else if (typeof value === 'object' && value !== null) {
    // A file contains no instructions, but it is a context.
    if ('type' in value && files.has(value.type)) texts.push('')
    else if (!('role' in value && otherRoles.has(value.role)))
      for (const [name, each] of Object.entries(value)) if (!settings.has(name)) collectTexts(each, texts)
  }
}

/** Fields that control the request, or that describe tools. */
const settings = wordSet(
  'model models user metadata provider transforms role type stop logit_bias service_tier reasoning_effort tools functions',
)
/** Authors of turns that give no instructions. */
const otherRoles: ReadonlySet<unknown> = wordSet('assistant tool function model')
/** Types of files and of their sources, of results and of references. */
const files: ReadonlySet<unknown> = wordSet(`
  image_url video_url input_image input_file input_audio file base64 url document tool_result function_call function_call_output search_result
  reasoning
`)

/** Names of elements and headings that contain material. */
const material =
  /\b(?:\w*docs?|\w*documents?|contexts?|\w*contents?|sources?|knowledge\w*|results|passages?|articles?|excerpts?|chunks?|snippets?|data|examples?|transcripts?|history|faqs?|pages?|references?|catalogue?|manual|facts?|background|dokumente?|quellen?|kontext|wissensbasis|fuentes?|contexto|contexte|sources|fonti|contesto|fontes)\b/
const openingTag = /<([a-z][\w-]{0,40})(?:\s[^<>]{0,200})?>/gi
/** Headings and element names of instructions. */
const instructive =
  /\b(?:instructions?|rules?|role|task|guidelines?|goals?|style|output|format|question|answer|tone|objective|requirements?|constraints?|behaviou?r|anweisung(?:en)?|aufgabe|regeln|frage|consignes?|instrucciones|pregunta|istruzioni|domanda|instruções|pergunta)\b/
const MAX_HEADING_CHARS = 80
/** A last paragraph of at most so many characters is read, even in a section of material. */
const MAX_TAIL_PARAGRAPH_CHARS = 300

/** Returns the text without fenced blocks, elements and sections of material, and long paragraphs. Linear. */
export function omitDocuments(text: string): string {
  const ends =
    text.length <= MAX_HEAD_CHARS + MAX_TAIL_CHARS
      ? text
      : `${text.slice(0, MAX_HEAD_CHARS)}\n\n${text.slice(-MAX_TAIL_CHARS)}`
  return omitLongParagraphs(omitSections(omitElements(omitFences(ends))))
}

function omitFences(text: string): string {
  const parts = text.split('```')
  // An open fence is no fence.
  const isOpen = parts.length % 2 === 0
  return parts.filter((_, at) => at % 2 === 0 || (isOpen && at === parts.length - 1)).join('\n')
}

function omitElements(text: string): string {
  let kept = ''
  let from = 0
  const unclosed = new Set<string>()
  openingTag.lastIndex = 0
  for (let tag = openingTag.exec(text); tag; tag = openingTag.exec(text)) {
    const name = (tag[1] ?? '').toLowerCase()
    if (!material.test(name) || instructive.test(name) || unclosed.has(name)) continue
    const end = text.indexOf(`</${tag[1]}>`, openingTag.lastIndex)
    if (end < 0) {
      unclosed.add(name)
      continue
    }
    kept += `${text.slice(from, tag.index)}\n\n`
    from = end + name.length + 3
    openingTag.lastIndex = from
  }
  return kept + text.slice(from)
}

/** Omits what follows a heading such as "Context:" up to a heading of instructions, or to a short last paragraph. */
function omitSections(text: string): string {
  const paragraphs = text.split(/\n[^\S\n]*\n/)
  let isMaterial = false
  return paragraphs
    .map((paragraph, at) => {
      const lines = paragraph.split('\n').filter(line => {
        const heading = headingOf(line)
        if (heading !== null && (isMaterial ? instructive : material).test(heading)) isMaterial = !isMaterial
        return !isMaterial || line.length === heading?.length
      })
      const isTail = at === paragraphs.length - 1 && at > 0 && paragraph.length <= MAX_TAIL_PARAGRAPH_CHARS
      return isTail ? paragraph : lines.join('\n')
    })
    .join('\n\n')
}

/** Returns the heading of a line in lower case: a marked or short line that ends in a colon, or a label before a colon. */
function headingOf(line: string): string | null {
  if (line.length <= MAX_HEADING_CHARS && /^\s*#{1,6}\s|^\s*\*\*[^*]+\*\*\W*$|:[*_\s]*$/.test(line))
    return line.toLowerCase()
  return /^\W{0,6}((?:[\p{L}]+ ){0,3}\p{L}+)\W{0,3}:/u.exec(line)?.[1]?.toLowerCase() ?? null
}

function omitLongParagraphs(text: string): string {
  const paragraphs = text.split('\n').filter(line => line.trim() !== '')
  return paragraphs
    .map((line, at) => {
      if (line.length <= MAX_PARAGRAPH_CHARS) return line
      if (at === 0) return line.slice(0, MAX_PARAGRAPH_CHARS)
      return at === paragraphs.length - 1 ? line.slice(-MAX_PARAGRAPH_CHARS) : ''
    })
    .join('\n')
}
