/** Owns reading a schema's `pattern`: ECMAScript's syntax tree, and which characters its sets accept. */
import { type AST, RegExpParser } from '@eslint-community/regexpp'
import { type Budget, SchemaError } from '../schema/budget.ts'

export interface Pattern {
  alternatives: AST.Alternative[]
  /** Whether a set such as `[^a-z]`, `\d` or `.` accepts a code point. */
  accepts(set: CharacterSetNode, codePoint: number): boolean
}

export type CharacterSetNode = AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass

/** Longer ones are refused: reading them is not bounded by the budget. */
const LONGEST_PATTERN_CHARS = 4096

const parser = new RegExpParser({ ecmaVersion: 2025 })

/** Parses in Unicode mode, as JSON Schema asks, and in the older mode what is valid only there. */
export function parsePattern(source: string, budget: Budget): Pattern {
  if (source.length > LONGEST_PATTERN_CHARS) throw new SchemaError("has a 'pattern' of more than 4,096 characters")
  budget.spend(source.length / 8)
  const unicode = parseIn(source, true)
  const tree = unicode ?? parseIn(source, false)
  if (tree === undefined) throw new SchemaError("has a 'pattern' that is not a valid regular expression")
  const tests = new Map<string, RegExp>()
  return {
    alternatives: tree.alternatives,
    accepts(set, codePoint) {
      const test = tests.get(set.raw) ?? compileSet(set.raw, unicode !== undefined)
      tests.set(set.raw, test)
      return test.test(String.fromCodePoint(codePoint))
    },
  }
}

function parseIn(source: string, unicode: boolean): AST.Pattern | undefined {
  try {
    return parser.parsePattern(source, 0, source.length, { unicode })
  } catch {
    return undefined
  }
}

/** One character against one set cannot backtrack, so the engine's own test is safe here. */
function compileSet(raw: string, unicode: boolean): RegExp {
  try {
    return new RegExp(`^${raw}$`, unicode ? 'u' : '')
  } catch {
    throw new SchemaError("has a 'pattern' with a character class the sandbox does not support")
  }
}
