/** Takes the punctuation off a prompt's end where it carries no meaning: "5!" is a factorial and keeps its mark. */
import { marksBefore } from './tables.ts'

/** How much may go: nothing, question marks, or any closing punctuation. */
export type Trim = 'nothing' | 'question marks' | 'all'

const factorialOf = /[\d)\]}²³]/
const dashes = new Set(['-', '–', '—'])

/** Shortens the last word, or drops last words that are punctuation alone, in place. */
export function trimEnd(words: string[], trim: Trim): void {
  if (trim === 'nothing') return
  const marks = trim === 'all' ? '?!.…,;' : '?'
  for (let last = words.at(-1); last !== undefined; last = words.at(-1)) {
    const kept = dashes.has(last) && trim === 'all' ? '' : withoutClosing(last, marks)
    if (kept === last || (kept === '' && isSubject(words))) return
    words.pop()
    if (kept !== '') words.push(kept)
  }
}

/** A mark that stands alone may be what the prompt is about: "what is the meaning of ?". */
function isSubject(words: readonly string[]): boolean {
  const before = words.at(-2)
  return (words.at(-1) ?? '').length > 1 || before === undefined || marksBefore.has(before)
}

function withoutClosing(word: string, marks: string): string {
  let end = word.length
  while (end > 0 && marks.includes(word[end - 1] ?? '')) {
    const runStart = startOfBangs(word, end)
    if (runStart < end && isFactorial(word, runStart)) break
    end = runStart < end ? runStart : end - 1
  }
  return word.slice(0, end)
}

function startOfBangs(word: string, end: number): number {
  let start = end
  while (word[start - 1] === '!') start -= 1
  return start
}

function isFactorial(word: string, bangs: number): boolean {
  return factorialOf.test(word[bangs - 1] ?? '') || (bangs === 1 && /\p{L}/u.test(word[0] ?? ''))
}
