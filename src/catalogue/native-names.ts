/** Vendors' own names of their models: whose a name is by its look, what it is a snapshot of, what aggregators make of it. */
import type { DirectProvider } from '../config.ts'

/** Letters, digits and a few signs: what any vendor's name is made of. */
const SOUND = /^[a-z0-9][a-z0-9._:@-]*$/i

/**
 * The first that matches holds. OpenAI's open models are not served by OpenAI itself. Groq names the models of others: by
 * these beginnings where no vendor stands in front.
 */
const PATTERNS: readonly [DirectProvider, RegExp][] = [
  [
    'groq',
    /^(?:llama|gemma\d?|mixtral|mistral-saba|qwen|deepseek-r1-distill|allam|compound|whisper-large|distil-whisper|playai)-/,
  ],
  [
    'openai',
    /^(?:gpt-(?!oss)|chatgpt-|o\d|ft:|codex-|computer-use-|text-|omni-|tts-|whisper-|dall-e-|davinci-|babbage-)/,
  ],
  ['anthropic', /^claude-/],
]

/** The direct provider whose names look so; undefined for names of nobody, and for those with a vendor in front but Groq's own. */
export function providerOfName(model: string): DirectProvider | undefined {
  if (/^groq\/[\w.-]+$/.test(model)) return 'groq'
  return SOUND.test(model) ? PATTERNS.find(([, pattern]) => pattern.test(model))?.[0] : undefined
}

/** `-2024-08-06`, `-20251001`, `-0613`, `-latest`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|(?:0[1-9]|1[0-2])\d{2}|latest)$/

/** The name without its date; null where it has none. */
export function familyOf(model: string): string | null {
  // What a fine-tuned model costs is another matter than what it was made of.
  return SNAPSHOT.test(model) && !model.startsWith('ft:') ? model.replace(SNAPSHOT, '') : null
}

/** `claude-haiku-4-5`, which aggregators write `claude-haiku-4.5`. */
const CLAUDE_VERSION = /-(\d)-(\d{1,2})(?=-|$)/

/**
 * What an aggregator may call a vendor's model, the likeliest last. Claude's versions have a point there, and no date: each
 * has one snapshot. Other vendors' snapshots are kept: they differ from what their family is today. None for models that are
 * a customer's own.
 */
export function aggregatorNames(vendor: string, model: string): string[] {
  if (model.startsWith('ft:')) return []
  if (vendor !== 'anthropic') return [`${vendor}/${model}`]
  const family = (familyOf(model) ?? model).replace(CLAUDE_VERSION, '-$1.$2')
  return [`${vendor}/${model}`, `${vendor}/${family}`]
}
