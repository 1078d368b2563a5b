/** Owns writing a text that a pattern is likely to match. Assertions are not read: the matcher has the last word. */
import type { AST } from '@eslint-community/regexpp'
import type { Budget } from '../schema/budget.ts'
import { chooseCharacters } from './choose-characters.ts'
import type { Pattern } from './parse-pattern.ts'

export interface WritingOptions {
  /** Which of the possible texts, counted through alternatives and characters like the digits of a number. */
  variant: number
  /** Characters to write beyond the shortest text, where the pattern has room. */
  extraChars: number
}

export function writePattern(pattern: Pattern, { variant, extraChars }: WritingOptions, budget: Budget): string {
  let text = ''
  let extraLeft = extraChars
  let variantLeft = variant

  const choose = (count: number): number => {
    const chosen = variantLeft % count
    variantLeft = Math.floor(variantLeft / count)
    return chosen
  }

  const append = (piece: string) => {
    budget.spend(0.5 + piece.length / 8)
    text += piece
  }

  const writeAlternatives = (alternatives: AST.Alternative[]) => {
    for (const element of alternatives[choose(alternatives.length)]?.elements ?? []) writeElement(element)
  }

  const writeElement = (node: AST.Element): void => {
    switch (node.type) {
      case 'Character':
        append(String.fromCodePoint(node.value))
        break
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass': {
        const characters = chooseCharacters(pattern, node, variant, budget)
        const offset = characters.length > 0 ? choose(characters.length) : 0
        append(characters[(text.length + offset) % characters.length] ?? '')
        break
      }
      case 'Group':
      case 'CapturingGroup':
        writeAlternatives(node.alternatives)
        break
      case 'Quantifier':
        writeRepeat(node)
    }
  }

  const writeRepeat = ({ element, min, max }: AST.Quantifier) => {
    for (let count = 0; count < min; count++) {
      budget.spend(0.25)
      writeElement(element)
    }
    for (let count = min; count < max && extraLeft > 0; count++) {
      const start = text.length
      writeElement(element)
      if (text.length === start) return
      extraLeft -= text.length - start
    }
  }

  writeAlternatives(pattern.alternatives)
  return text
}
