/** Owns turning a pattern into a program for the matcher: a list of instructions, each naming the next. */
import type { AST } from '@eslint-community/regexpp'
import { type Budget, SchemaError } from '../schema/budget.ts'
import type { Pattern } from './parse-pattern.ts'

type Instruction =
  | { do: 'match' }
  | { do: 'character'; accepts(codePoint: number): boolean; next: number }
  | { do: 'split'; targets: number[] }
  | { do: 'edge'; kind: 'start' | 'end'; next: number }
  | { do: 'word'; negate: boolean; next: number }
  | { do: 'look'; entry: number; behind: boolean; negate: boolean; next: number }

export interface Program {
  instructions: Instruction[]
  entry: number
}

/** Compiles from the end backwards. Counted repeats are written out, at the budget's cost. */
export function compilePattern(pattern: Pattern, budget: Budget): Program {
  const instructions: Instruction[] = []

  const emit = (instruction: Instruction): number => {
    budget.spend(1)
    return instructions.push(instruction) - 1
  }

  const compileAlternatives = (alternatives: AST.Alternative[], next: number): number => {
    const targets = alternatives.map(({ elements }) =>
      elements.reduceRight((following, element) => compileElement(element, following), next),
    )
    return targets.length === 1 && targets[0] !== undefined ? targets[0] : emit({ do: 'split', targets })
  }

  const compileElement = (node: AST.Element, next: number): number => {
    switch (node.type) {
      case 'Character':
        return emit({ do: 'character', accepts: codePoint => codePoint === node.value, next })
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        return emit({ do: 'character', accepts: codePoint => pattern.accepts(node, codePoint), next })
      case 'Group':
      case 'CapturingGroup':
        refuseModifiers(node)
        return compileAlternatives(node.alternatives, next)
      case 'Quantifier':
        return compileRepeat(node, next)
      case 'Assertion':
        return compileAssertion(node, next)
      case 'Backreference':
        throw new SchemaError("has a 'pattern' with a back-reference, which the sandbox does not support")
    }
  }

  const compileRepeat = ({ element, min, max }: AST.Quantifier, next: number): number => {
    let entry = next
    if (max === Number.POSITIVE_INFINITY) {
      const targets = [next]
      entry = emit({ do: 'split', targets })
      targets.unshift(compileElement(element, entry))
    } else {
      for (let count = min; count < max; count++) {
        budget.spend(1)
        entry = emit({ do: 'split', targets: [compileElement(element, entry), next] })
      }
    }
    for (let count = 0; count < min; count++) {
      budget.spend(1)
      entry = compileElement(element, entry)
    }
    return entry
  }

  const compileAssertion = (node: AST.Assertion, next: number): number => {
    switch (node.kind) {
      case 'start':
      case 'end':
        return emit({ do: 'edge', kind: node.kind, next })
      case 'word':
        return emit({ do: 'word', negate: node.negate, next })
      case 'lookahead':
      case 'lookbehind': {
        const entry = compileAlternatives(node.alternatives, emit({ do: 'match' }))
        return emit({ do: 'look', entry, behind: node.kind === 'lookbehind', negate: node.negate, next })
      }
    }
  }

  return { entry: compileAlternatives(pattern.alternatives, emit({ do: 'match' })), instructions }
}

function refuseModifiers(node: AST.Group | AST.CapturingGroup): void {
  if (node.type === 'Group' && node.modifiers !== null) {
    throw new SchemaError("has a 'pattern' with inline flags, which the sandbox does not support")
  }
}
