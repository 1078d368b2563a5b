/** Reads a prompt once: its tokens, and its normalized form. */
import { LRUCache } from 'lru-cache'
import type { ContextKind } from './context-kind.ts'
import { english } from './english/english.ts'
import { german } from './german/german.ts'
import type { Language } from './language.ts'
import { mindsQuoteShapes } from './quotations.ts'
import type { Token } from './token.ts'
import { tokenize } from './tokenize.ts'

/** Longer texts are never matched semantically, so they are not read. */
export const MAX_SEMANTIC_CHARS = 4_000
/** Questions in prose are short; a longer text stays unchanged. */
const MAX_PROSE_CHARS = 600

/** All languages with tables. To add one, write its folder and list it here. */
const languages: readonly Language[] = [english, german]

export interface PromptReading {
  /** The text as it was sent. */
  readonly text: string
  /** The normalized prose, or the text without outer white space. Two texts with the same one are proved to ask the same. */
  readonly normalized: string
  /** The tokens that proof compares; null when the text is compared unchanged. */
  readonly tokens: readonly Token[] | null
  /** The language whose tables were used; null when none was. */
  readonly language: string | null
  /** Whether the text is short enough for a semantic match. */
  readonly isSemantic: boolean
  /** What surrounds the text: it decides how freely the text may be reworded. */
  readonly context: ContextKind
}

/** Recent prompts are compared again and again with new ones. Tokens take some fifty bytes per character. */
const readings = new LRUCache<string, PromptReading>({
  maxSize: 262_144,
  sizeCalculation: (_, text) => Math.max(1, text.length),
})

/** "How do you ship orders" asks anyone for a method, but asks the shop whose assistant has been told who it is. */
const asksAddressee = /\bhow\s+(?:do|can)\s+you\b/i

/** Takes any string, including lone surrogates, in linear time. */
export function readPrompt(text: string, context: ContextKind = 'none'): PromptReading {
  const isSemantic = text.length <= MAX_SEMANTIC_CHARS
  const isUnchanged = !isSemantic || context === 'work' || (context === 'instructions' && asksAddressee.test(text))
  // Not even trimmed: for a text to be translated, an outer space may count.
  if (isUnchanged) return { text, normalized: text, tokens: null, language: null, isSemantic, context }
  if (text.length > MAX_PROSE_CHARS) return readAnew(text, context)
  const name = `${context} ${text}`
  let reading = readings.get(name)
  if (!reading) {
    reading = readAnew(text, context)
    readings.set(name, reading)
  }
  return reading
}

/** Reads a text in the same context as `other`. */
export function readBeside(other: PromptReading, text: string): PromptReading {
  return readPrompt(text, other.context)
}

function readAnew(text: string, context: ContextKind): PromptReading {
  const trimmed = text.trim()
  const tokens = trimmed.length > MAX_PROSE_CHARS ? null : tokenize(text)
  const prose = tokens && tokens.length > 0 && !mindsQuoteShapes(tokens) ? writeProse(tokens) : null
  const matched = { text, isSemantic: true, context }
  if (!prose) return { ...matched, normalized: writeVerbatim(trimmed), tokens: null, language: null }
  const normalized = prose.tokens.map(token => token.key).join(' ')
  return { ...matched, normalized, tokens: prose.tokens, language: prose.language }
}

function writeProse(read: readonly Token[]): { tokens: readonly Token[]; language: string } | null {
  for (const { write, code } of languages) {
    const tokens = write(read)
    if (tokens && tokens.length > 0) return { tokens, language: code }
  }
  return null
}

/** Texts in which a mark, or the text itself, may be quoted, worked on or asked about. */
const aboutMarks =
  /[\n:："'“”「」『』`号號符角字節节译譯写寫句这這本末尾点點码碼鍵键]|结尾|最后|最後|重复|重複|输出|輸出|多长|マーク|記号|これ|この|バイト|번역|바이트|글자|전각|말|출력|이 |[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s/u
/** Endings of questions: "…吗？", "…什么？", "…ですか？", "…니까？". Without one, the mark itself may make it a question. */
const endsLikeQuestion = /(?:[吗嗎呢么麼谁誰里裡儿兒少几幾かは]|[까요니나는은])？$/u

/** A question in full-width characters ends in a mark of either width; nothing else of an unchanged text is normalized. */
function writeVerbatim(trimmed: string): string {
  const isQuestion = endsLikeQuestion.test(trimmed.slice(-3)) && !aboutMarks.test(trimmed)
  return isQuestion ? `${trimmed.slice(0, -1)}?` : trimmed
}
