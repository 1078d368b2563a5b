/** Reads a prompt once: its tokens, and its normalized form. */
import { LRUCache } from 'lru-cache'
import type { ContextKind } from './context-kind.ts'
import { isQuestionAfterColon } from './form-sensitive.ts'
import { normalizeEnglish } from './normalize-english.ts'
import { normalizeForeign } from './normalize-foreign.ts'
import { tokenize } from './tokenize.ts'

/** Longer texts are never matched semantically, so they are not read. */
export const MAX_SEMANTIC_CHARS = 4_000
/** Questions in prose are short; a longer text stays unchanged. */
const MAX_PROSE_CHARS = 600

export interface NormalizedPrompt {
  /** The text as it was sent. */
  readonly text: string
  /** The normalized prose, or the text without outer white space. Two texts with the same one are proved to ask the same. */
  readonly normalized: string
  /** Whether it is an English question or request that was normalized; else only equal text may match. */
  readonly isProse: boolean
  /** Whether the text is short enough for a semantic match. */
  readonly isSemantic: boolean
  /** What surrounds the text: it decides how freely the text may be reworded. */
  readonly context: ContextKind
  /** Those who share answers: what was read for others is read anew, so that no time tells what they asked. */
  readonly owner: string
}

/** Recent prompts are compared again and again with new ones. Tokens take some fifty bytes per character. */
const readings = new LRUCache<string, NormalizedPrompt>({
  maxSize: 262_144,
  sizeCalculation: (_, text) => Math.max(1, text.length),
})

/** "How do you ship orders" asks anyone for a method, but asks the shop whose assistant has been told who it is. */
const asksAddressee = /\bhow\s+(?:do|can)\s+you\b/i

/** Takes any string, including lone surrogates, in linear time. */
export function normalizePrompt(text: string, context: ContextKind = 'none', owner = ''): NormalizedPrompt {
  const isSemantic = text.length <= MAX_SEMANTIC_CHARS
  const isUnchanged = !isSemantic || context === 'work' || (context === 'instructions' && asksAddressee.test(text))
  // Not even trimmed: for a text to be translated, an outer space may count.
  if (isUnchanged) return { text, normalized: text, isProse: false, isSemantic, context, owner }
  if (text.length > MAX_PROSE_CHARS) return readAnew(text, context, owner)
  const name = `${owner}\n${context} ${text}`
  let reading = readings.get(name)
  if (!reading) {
    reading = readAnew(text, context, owner)
    readings.set(name, reading)
  }
  return reading
}

/** Reads a text in the same context as `other`. */
export function normalizeInSameContext(other: NormalizedPrompt, text: string): NormalizedPrompt {
  return normalizePrompt(text, other.context, other.owner)
}

function readAnew(text: string, context: ContextKind, owner: string): NormalizedPrompt {
  const trimmed = text.trim()
  const tokens = trimmed.length > MAX_PROSE_CHARS ? null : tokenize(text)
  const english = tokens && tokens.length > 0 ? normalizeEnglish(tokens) : null
  const written = tokens && isQuestionAfterColon(tokens) ? trimmed.replace(/\s+/g, ' ') : trimmed
  const [, quoted = ''] = /^«([^«»]+)»$/u.exec(trimmed) ?? []
  const asked = quoted.trim() === '' ? tokens : tokenize(quoted.trim())
  const normalized = english ?? (asked && normalizeForeign(asked)) ?? writeVerbatim(written)
  return { text, normalized, isProse: english !== null, isSemantic: true, context, owner }
}

/** Texts in which a mark, or the text itself, may be quoted, worked on or asked about. */
const aboutMarks =
  /[\n:："'“”「」『』`号號符角字節节译譯写寫句这這本末尾点點码碼鍵键]|结尾|最后|最後|重复|重複|输出|輸出|多长|マーク|記号|これ|この|バイト|번역|바이트|글자|전각|말|출력|이 |[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s/u
/** Endings that ask by themselves: "…吗？", "…多少？", "…ですか？", "…니까？". */
const asksWithoutMark = /(?:[吗嗎么麼谁誰少几幾か]|니까)[？?]$/u
/** Without the mark, these may not ask. */
const endsLikeQuestion = /(?:[呢里裡儿兒はの]|[까요니나는은])？$/u

/** With one of Hindi's question words, one sentence asks whether a mark, or a full stop, ends it or not. */
const asksInHindi =
  /^[\p{Script=Devanagari}\p{M}\s]*(?<!\p{L})(?:कौन|कहाँ|कहां|कब|कैसे|क्यों|कितन|किस|क्या(?= है| हैं))[\p{Script=Devanagari}\p{M}\s]*[।?]?$/u
const aboutHindi = /वाक्य|शब्द|अक्षर|चिह्न|अनुवाद|लिख/u

/** In scripts without letter case, a question's mark may be missing, or of either width; nothing else is normalized. */
function writeVerbatim(trimmed: string): string {
  const end = trimmed.slice(-3)
  if (asksInHindi.test(trimmed) && !aboutHindi.test(trimmed)) return trimmed.replace(/[।?]$/u, '').trimEnd()
  if (aboutMarks.test(trimmed)) return trimmed
  if (asksWithoutMark.test(end)) return trimmed.slice(0, -1)
  return endsLikeQuestion.test(end) ? `${trimmed.slice(0, -1)}?` : trimmed
}
