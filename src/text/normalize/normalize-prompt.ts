/** Brings a prompt to its canonical form: wordings that differ in courtesy, case, spacing or contractions alone become one. */
import { expandContractions } from './expand-contractions.ts'
import { splitVerbatim } from './split-verbatim.ts'
import { findPayload, trimFillers } from './trim-fillers.ts'
import { unifyOperators } from './unify-operators.ts'
import { unifyQuestions } from './unify-questions.ts'

/** Stands for one verbatim part while the prose around it is worked on; a private-use character of the prompt's own is one too. */
const placeholder = '\uE000'

/**
 * The canonical form of a prompt: lower case, single spaces, no fillers at either end, contractions expanded, questions and
 * arithmetic written one way, no closing punctuation. Code and quoted strings stay as they are, and so does every symbol and
 * every non-ASCII letter (composed by NFC). A prompt of nothing but fillers comes back trimmed and in lower case.
 * Idempotent, independent of the locale, linear in the length; takes any string, lone surrogates included.
 */
export function normalizePrompt(text: string): string {
  const composed = text.normalize('NFC')
  const { prose, verbatim } = setAside(composed)
  const words = prose.toLowerCase().split(/\s+/).filter(Boolean)
  const normalized = putBack(rewrite(words).join(' '), verbatim).normalize('NFC')
  return normalized === '' ? composed.trim().toLowerCase() : normalized
}

function rewrite(words: readonly string[]): string[] {
  const expanded = expandContractions(words, findPayload(words))
  const trimmed = trimFillers(expanded)
  const asked = unifyQuestions(trimmed, findPayload(trimmed))
  return unifyOperators(asked, findPayload(asked))
}

function setAside(text: string): { prose: string; verbatim: string[] } {
  const verbatim: string[] = []
  const keep = (part: string) => {
    verbatim.push(part)
    return placeholder
  }
  const prose = splitVerbatim(text)
    .map(span => (span.kind === 'plain' ? span.text.replaceAll(placeholder, keep) : keep(span.text)))
    .join('')
  return { prose, verbatim }
}

function putBack(prose: string, verbatim: readonly string[]): string {
  let next = 0
  return prose.replaceAll(placeholder, () => verbatim[next++] ?? '')
}
