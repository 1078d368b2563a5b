/**
 * Owns testing a text against a pattern in time bounded by pattern length times text length. The engine's own matcher
 * backtracks, and a client's pattern could hold it for hours.
 */
import type { Budget } from '../schema/budget.ts'
import type { Program } from './compile-pattern.ts'

const WORD = /^\w$/

/** Whether the pattern matches anywhere in the text, as JSON Schema's `pattern` asks. */
export function matchesProgram({ instructions, entry }: Program, text: string, budget: Budget): boolean {
  const codePoints = Array.from(text, character => character.codePointAt(0) ?? 0)
  const end = codePoints.length

  const isWordAt = (position: number) => {
    const codePoint = codePoints[position]
    return codePoint !== undefined && WORD.test(String.fromCodePoint(codePoint))
  }

  /** Whether `start` leads to a match from any of the positions; one that ends at `mustEnd`, where that is given. */
  const search = (start: number, positions: number[], mustEnd?: number): boolean => {
    // Whether a state leads to a match does not depend on the way to it, so none is ever visited twice.
    const visited = new Set<number>()
    const waiting: [at: number, position: number][] = []
    const visit = (at: number, position: number) => {
      const state = at * (end + 1) + position
      if (visited.has(state)) return
      budget.spend(0.25)
      visited.add(state)
      waiting.push([at, position])
    }
    for (const position of positions) visit(start, position)
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      const [at, position] = state
      const instruction = instructions[at]
      const codePoint = codePoints[position]
      switch (instruction?.do) {
        case 'match':
          if (mustEnd === undefined || position === mustEnd) return true
          break
        case 'character':
          if (codePoint !== undefined && instruction.accepts(codePoint)) visit(instruction.next, position + 1)
          break
        case 'split':
          for (const target of instruction.targets) visit(target, position)
          break
        case 'edge':
          if (position === (instruction.kind === 'start' ? 0 : end)) visit(instruction.next, position)
          break
        case 'word':
          if ((isWordAt(position - 1) !== isWordAt(position)) !== instruction.negate) visit(instruction.next, position)
          break
        case 'look': {
          const found = instruction.behind
            ? search(instruction.entry, range(position + 1), position)
            : search(instruction.entry, [position])
          if (found !== instruction.negate) visit(instruction.next, position)
        }
      }
    }
    return false
  }

  return search(entry, range(end + 1))
}

const range = (length: number) => Array.from({ length }, (_, index) => index)
