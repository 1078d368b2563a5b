/** Normalizes prompts, with a cache of recent ones. */
import { LRUCache } from 'lru-cache'
import type { ContextKind } from './context-kind.ts'
import { isQuestionAfterColon } from './form-sensitive.ts'
import { normalizeEnglish } from './normalize-english.ts'
import { normalizeForeign } from './normalize-foreign.ts'
import { tokenize } from './tokenize.ts'

/** Longer texts are never matched semantically, and are not normalized. */
export const MAX_SEMANTIC_CHARS = 4_000
/** Questions in prose are short. A longer text stays unchanged. */
const MAX_PROSE_CHARS = 600

export interface NormalizedPrompt {
  /** The text as it was sent. */
  readonly text: string
  /** The normalized prose, or the text without outer white space. Texts with equal normalized forms ask the same. */
  readonly normalized: string
  /** True when an English question or request was normalized. Otherwise only an equal normalized text matches. */
  readonly isProse: boolean
  /** True when the text is short enough for a semantic match. */
  readonly isSemantic: boolean
  /** The kind of context, which decides how freely the text may be reworded. */
  readonly context: ContextKind
  /** The sharing scope. Texts of another scope are not read from the cache, so that timing does not reveal them. */
  readonly owner: string
}

/** Recently normalized prompts, which are compared again and again with new ones. */
const recentPrompts = new LRUCache<string, NormalizedPrompt>({
  maxSize: 262_144,
  sizeCalculation: (_, text) => Math.max(1, text.length),
})

/** "How do you ship orders" asks for a method in general, but for the shop's practice when instructions describe the assistant. */
const asksAddressee = /\bhow\s+(?:do|can)\s+you\b/i

/** Normalizes a text, which may contain lone surrogates, in linear time. */
export function normalizePrompt(text: string, context: ContextKind = 'none', owner = ''): NormalizedPrompt {
  const isSemantic = text.length <= MAX_SEMANTIC_CHARS
  const isUnchanged = !isSemantic || context === 'work' || (context === 'instructions' && asksAddressee.test(text))
  // The text is not trimmed, because outer white space may matter in a text to be processed.
  if (isUnchanged) return { text, normalized: text, isProse: false, isSemantic, context, owner }
  if (text.length > MAX_PROSE_CHARS) return normalizeUncached(text, context, owner)
  const name = `${owner}\n${context} ${text}`
  let prompt = recentPrompts.get(name)
  if (!prompt) {
    prompt = normalizeUncached(text, context, owner)
    recentPrompts.set(name, prompt)
  }
  return prompt
}

/** Normalizes a text in the same context and for the same owner as `other`. */
export function normalizeInSameContext(other: NormalizedPrompt, text: string): NormalizedPrompt {
  return normalizePrompt(text, other.context, other.owner)
}

function normalizeUncached(text: string, context: ContextKind, owner: string): NormalizedPrompt {
  const trimmed = text.trim()
  const tokens = trimmed.length > MAX_PROSE_CHARS ? null : tokenize(text)
  const english = tokens && tokens.length > 0 ? normalizeEnglish(tokens) : null
  const written = tokens && isQuestionAfterColon(tokens) ? trimmed.replace(/\s+/g, ' ') : trimmed
  const [, quoted = ''] = /^«([^«»]+)»$/u.exec(trimmed) ?? []
  const asked = quoted.trim() === '' ? tokens : tokenize(quoted.trim())
  const normalized = english ?? (asked && normalizeForeign(asked)) ?? normalizeQuestionMark(written)
  return { text, normalized, isProse: english !== null, isSemantic: true, context, owner }
}

/** Texts that may quote, process or ask about a punctuation mark or the text itself. */
const aboutMarks =
  /[\n:："'“”「」『』`号號符角字節节译譯写寫句这這本末尾点點码碼鍵键]|结尾|最后|最後|重复|重複|输出|輸出|多长|マーク|記号|これ|この|バイト|번역|바이트|글자|전각|말|출력|이 |[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s/u
/** Endings that form a question without a mark: "…吗？", "…多少？", "…ですか？", "…니까？". */
const asksWithoutMark = /(?:[吗嗎么麼谁誰少几幾か]|니까)[？?]$/u
/** Endings that may not form a question without a mark. */
const endsLikeQuestion = /(?:[呢里裡儿兒はの]|[까요니나는은])？$/u

/** A sentence with a Hindi question word, which is a question whatever mark ends it. */
const asksInHindi =
  /^[\p{Script=Devanagari}\p{M}\s]*(?<!\p{L})(?:कौन|कहाँ|कहां|कब|कैसे|क्यों|कितन|किस|क्या(?= है| हैं))[\p{Script=Devanagari}\p{M}\s]*[।?]?$/u
const aboutHindi = /वाक्य|शब्द|अक्षर|चिह्न|अनुवाद|लिख/u

/** Normalizes only the final question mark of text in a script without letter case. The mark may be missing or full-width. */
function normalizeQuestionMark(trimmed: string): string {
  const end = trimmed.slice(-3)
  if (asksInHindi.test(trimmed) && !aboutHindi.test(trimmed)) return trimmed.replace(/[।?]$/u, '').trimEnd()
  if (aboutMarks.test(trimmed)) return trimmed
  if (asksWithoutMark.test(end)) return trimmed.slice(0, -1)
  return endsLikeQuestion.test(end) ? `${trimmed.slice(0, -1)}?` : trimmed
}
