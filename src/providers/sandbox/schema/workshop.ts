/** Owns what the making of one instance shares: the schema's references, its patterns, the budget. */
import { compilePattern, type Program } from '../pattern/compile-pattern.ts'
import { matchesProgram } from '../pattern/match-pattern.ts'
import { type Pattern, parsePattern } from '../pattern/parse-pattern.ts'
import type { Budget } from './budget.ts'
import type { Schema } from './keywords.ts'
import { createReferences, type ResolveReference } from './references.ts'

export interface Workshop {
  root: Schema
  budget: Budget
  resolve: ResolveReference
  /** A pattern parsed, once each. */
  patternOf(source: string): Pattern
  /** Whether a `pattern` matches somewhere in the text. */
  matches(source: string, text: string): boolean
}

export function openWorkshop(root: Schema, budget: Budget): Workshop {
  const patterns = new Map<string, Pattern>()
  const programs = new Map<string, Program>()
  const patternOf = (source: string) => remember(patterns, source, () => parsePattern(source, budget))
  const programOf = (source: string) => remember(programs, source, () => compilePattern(patternOf(source), budget))
  return {
    root,
    budget,
    resolve: createReferences(root, budget),
    patternOf,
    matches: (source, text) => matchesProgram(programOf(source), text, budget),
  }
}

function remember<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
