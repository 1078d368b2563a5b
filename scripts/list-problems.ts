/** Finds in the source what a 400 about a field can say: the texts that `invalidRequest()` is given. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('../src', import.meta.url))
/** The first argument, where it is written there and then. */
const CALL = /\binvalidRequest\(\s*(`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g
const GAP = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g

/** Modules by what their errors are about, in the order of the page. */
const SUBJECTS: readonly (readonly [subject: string, modules: readonly string[]])[] = [
  [
    'Any request: its address, headers and body',
    ['http', 'formats/json', 'formats/large-bodies', 'formats/read-form', 'cache', 'pipeline'],
  ],
  ['Requests that are translated for another provider’s API', ['formats', 'providers']],
  ['Requests with a test key', ['providers/sandbox']],
  ['The admin API', ['admin', 'dashboard']],
]

export interface Subject {
  subject: string
  /** Sorted; what is filled in stands in braces. */
  problems: string[]
}

export function listProblems(): Subject[] {
  const found = SUBJECTS.map(([subject]) => ({ subject, problems: new Set<string>() }))
  for (const file of new Bun.Glob('**/*.ts').scanSync(SOURCE)) {
    for (const [, literal = ''] of readFileSync(join(SOURCE, file), 'utf8').matchAll(CALL)) {
      found[subjectOf(file)]?.problems.add(fillGaps(literal.slice(1, -1)))
    }
  }
  return found.map(({ subject, problems }) => ({ subject, problems: [...problems].sort() }))
}

/** The subject with the longest path that the file is below; a file of no subject belongs to the first. */
function subjectOf(file: string): number {
  const lengths = SUBJECTS.map(([, modules]) =>
    Math.max(0, ...modules.filter(module => file.startsWith(module)).map(module => module.length)),
  )
  return lengths.indexOf(Math.max(...lengths))
}

/** `${limits.most}` becomes {most}; what is more than a name becomes {…}. */
function fillGaps(text: string): string {
  const filled = text.replace(GAP, gap => {
    const name = gap.slice(2, -1).match(/^(?:\w+\??\.)*(\w+)$/)?.[1]
    return name === undefined ? '{…}' : `{${name}}`
  })
  return filled.replace(/\\(['"`$\\])/g, '$1')
}
