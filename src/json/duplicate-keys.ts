/** Finds objects with the same key twice: parsers differ in which of the two they use. */

import type { JsonObject } from './json-object.ts'

/** Whether `value`, parsed from `text`, has fewer members than the text. Linear. */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countColons(text) !== countMembers(value)
}

/** Counts colons outside of strings: one for each member. */
function countColons(text: string): number {
  let colons = 0
  let colon = text.indexOf(':')
  for (let at = 0; colon >= 0; ) {
    const quote = text.indexOf('"', at)
    const end = quote < 0 ? text.length : quote
    for (; colon >= 0 && colon < end; colon = text.indexOf(':', colon + 1)) colons++
    if (quote < 0) return colons
    at = findStringEnd(text, quote + 1)
    if (colon >= 0 && colon < at) colon = text.indexOf(':', at)
  }
  return colons
}

/** Position after the closing quote of the string that begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

function countMembers(value: unknown): number {
  const waiting = [value]
  let members = 0
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object') waiting.push(item)
      continue
    }
    // A parsed object has own members only.
    for (const key in next) {
      members++
      const member = (next as JsonObject)[key]
      if (typeof member === 'object') waiting.push(member)
    }
  }
  return members
}
