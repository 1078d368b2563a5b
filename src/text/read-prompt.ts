/** Reads a prompt once: its tokens, and the one way in which proof writes all wordings that ask the same. */
import { LRUCache } from 'lru-cache'
import { english } from './english/english.ts'
import { german } from './german/german.ts'
import type { Language } from './language.ts'
import { mindsQuoteShapes } from './quotations.ts'
import type { Token } from './token.ts'
import { tokenize } from './tokenize.ts'

/** Longer texts are never matched by meaning; reading them costs nothing. */
export const MAX_SEMANTIC_CHARS = 4_000
/** Prose that is a question is short; whatever is longer stands as it is. */
const MAX_PROSE_CHARS = 600

/** All languages with tables. To add one, write its folder and list it. */
const languages: readonly Language[] = [english, german]

export interface PromptReading {
  /** As it was sent. */
  readonly text: string
  /** Equal for two texts only where proof holds between them: the prose written one way, or the text less outer white space. */
  readonly normalized: string
  /** What proof compares; null where the text is compared as it stands. */
  readonly tokens: readonly Token[] | null
  /** The language whose tables the tokens were written with. */
  readonly language: string | null
  /** Whether the text is short enough to be matched by more than its hash. */
  readonly isSemantic: boolean
  /** Whether it was handed over to be worked on: to the letter, whatever it is. */
  readonly isHandedOver: boolean
}

/** Read lately: what was asked a moment ago is compared with what is asked now, again and again. Tokens take some fifty bytes a character. */
const readings = new LRUCache<string, PromptReading>({
  maxSize: 262_144,
  sizeCalculation: (_, text) => Math.max(1, text.length),
})

/** Takes any string, lone surrogates included, in linear time. */
export function readPrompt(text: string): PromptReading {
  // Not even trimmed: nothing looks at it.
  if (text.length > MAX_SEMANTIC_CHARS)
    return { text, normalized: text, tokens: null, language: null, isSemantic: false, isHandedOver: false }
  if (text.length > MAX_PROSE_CHARS) return readAnew(text)
  let reading = readings.get(text)
  if (!reading) {
    reading = readAnew(text)
    readings.set(text, reading)
  }
  return reading
}

/** Reads what a context hands over: "translate what the user writes" makes of every question a text. */
export function readHandedOver(text: string): PromptReading {
  const isSemantic = text.length <= MAX_SEMANTIC_CHARS
  return { text, normalized: text, tokens: null, language: null, isSemantic, isHandedOver: true }
}

/** Reads a text of the same context as that of `other`. */
export function readBeside(other: PromptReading, text: string): PromptReading {
  return other.isHandedOver ? readHandedOver(text) : readPrompt(text)
}

function readAnew(text: string): PromptReading {
  const trimmed = text.trim()
  const tokens = trimmed.length > MAX_PROSE_CHARS ? null : tokenize(text)
  const prose = tokens && tokens.length > 0 && !mindsQuoteShapes(tokens) ? writeProse(tokens) : null
  const matched = { text, isSemantic: true, isHandedOver: false }
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

/** Where a mark, or the text itself, is what is quoted, handed over or asked about. */
const aboutMarks =
  /[\n:："'“”「」『』`号號符角字節节译譯写寫句这這本末尾点點码碼鍵键]|结尾|最后|最後|重复|重複|输出|輸出|多长|マーク|記号|これ|この|バイト|번역|바이트|글자|전각|말|출력|이 |[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s/u
/** What questions end in: "…吗？", "…什么？", "…ですか？", "…니까？". Without it the mark may be what makes it one. */
const endsLikeQuestion = /(?:[吗嗎呢么麼谁誰里裡儿兒少几幾かは]|[까요니나는은])？$/u

/** A question in characters of full width ends in a mark of either width; nothing else of a text that stands as it is may change. */
function writeVerbatim(trimmed: string): string {
  const isQuestion = endsLikeQuestion.test(trimmed.slice(-3)) && !aboutMarks.test(trimmed)
  return isQuestion ? `${trimmed.slice(0, -1)}?` : trimmed
}
