/** Labelled instructions and system prompts. Label 1: the correct answer depends on the wording of the user's message. */
import { basename, join } from 'node:path'
import { omitDocuments } from '../../src/cache/text/read-instructions.ts'
import { isWholePrompt, readSentences, type Sentence } from '../../src/cache/text/wording-instructions.ts'
import { pairFiles } from './pairs.ts'
import { share } from './score.ts'
import { readRows } from './tables.ts'

export interface LabelledContext {
  readonly text: string
  readonly label: 0 | 1
  /** The name of the author's file. */
  readonly author: string
  readonly sentences: readonly Sentence[]
}

const OWN_CONTEXTS = join(import.meta.dirname, 'contexts')
/** The authors of the board. The classifier is never trained on what they wrote. */
const boardAuthors: ReadonlySet<string> = new Set(['04', '09', '11'])
const labels: ReadonlyMap<unknown, 0 | 1> = new Map([
  ['answering', 0],
  ['wording', 1],
])

export const isBoardContext = ({ author }: LabelledContext) => boardAuthors.has(author)

export const isWhole = ({ sentences }: LabelledContext) => isWholePrompt(sentences)

/** Reads the authors' files. An invalid row throws an error with its position. */
export function readContexts(): LabelledContext[] {
  return pairFiles(OWN_CONTEXTS).flatMap(file =>
    Array.from(readRows(file), ({ fields: { text, label }, line }) => {
      const value = labels.get(label)
      if (typeof text !== 'string' || value === undefined)
        throw new Error(`${file}:${line}: a context needs a text and the label wording or answering`)
      return { text, label: value, author: basename(file, '.jsonl'), sentences: readSentences(omitDocuments(text)) }
    }),
  )
}

/** Describes how many instructions about wording are found, and how many others are taken for such. */
export function describeFound(contexts: readonly LabelledContext[], isFound: (context: LabelledContext) => boolean) {
  const count = (label: 0 | 1, whole: boolean) => {
    const all = contexts.filter(context => context.label === label && isWhole(context) === whole)
    return share(all.filter(isFound).length, all.length)
  }
  return `wording found: single ${count(1, false)}; whole ${count(1, true)}\nfalse alarms: single ${count(0, false)}; whole ${count(0, true)}`
}
