/**
 * Rejects regular expressions of src/ whose running time can grow faster than their input. Each is analysed as an automaton and tested on
 * the engine that runs it.
 */
import { parseSync, Visitor } from 'oxc-parser'
import { analyse } from 'scslre'

export interface Pattern {
  /** `file:line`. */
  place: string
  source: string
  flags: string
}

const ROOT = new URL('../', import.meta.url).pathname

/** Collects all literals, and the patterns that modules build when they are loaded. */
export async function collectPatterns(): Promise<Pattern[]> {
  const patterns: Pattern[] = []
  const building: string[] = []
  for (const file of new Bun.Glob('src/**/*.{ts,tsx}').scanSync(ROOT)) {
    const text = await Bun.file(ROOT + file).text()
    const { program, errors } = parseSync(file, text)
    if (errors.length > 0) throw new Error(`${file} cannot be parsed`)
    let builds = false
    new Visitor({
      Literal(node) {
        if (!('regex' in node)) return
        const { pattern, flags } = node.regex
        patterns.push({ place: `${file}:${text.slice(0, node.start).split('\n').length}`, source: pattern, flags })
      },
      NewExpression(node) {
        builds ||= node.callee.type === 'Identifier' && node.callee.name === 'RegExp'
      },
    }).visit(program)
    if (builds) building.push(file)
  }
  return [...patterns, ...(await collectBuilt(building))]
}

async function collectBuilt(files: readonly string[]): Promise<Pattern[]> {
  const built: Pattern[] = []
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, given: [string, string?]) {
      const pattern = new target(...given)
      const [, place] = /^(?!.*\/node_modules\/).*\/(src\/[^\s:]+:\d+)/.exec(callerOf(new Error())) ?? []
      if (place !== undefined) built.push({ place, source: pattern.source, flags: pattern.flags })
      return pattern
    },
  })
  try {
    for (const file of files) await import(ROOT + file)
  } finally {
    globalThis.RegExp = original
  }
  return built
}

/** The first stack frame outside of this file, for example in a library. */
function callerOf({ stack = '' }: Error): string {
  return stack.split('\n').find(line => /\.[jt]sx?:/.test(line) && !line.includes('check-patterns')) ?? ''
}

/** Returns a description of an input that slows the pattern down; null if none was found. */
export function findSlow({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string | null {
  const [report] = analyse({ source, flags }, { reportTypes: { Move: true } }).reports
  if (report)
    return `${report.exponential ? 'exponential' : 'quadratic'} where ${report.character.literal.source} is repeated`
  return attack(new RegExp(source, flags.includes('g') ? flags : `${flags}g`))
}

/** Long enough that quadratic time takes milliseconds, and linear time hundredths of one. */
const CHARS = 4_000
const SLOW_MS = 3
/** Quadratic time takes sixteen times as long for an input of four times the length. */
const TIMES_LONGER = 4
const MOST_TIMES = 8
const MOST_OWN = 40
const UNITS = [
  ...['[', '[]', '(', '{', '}', '<', '`', '"', "'", '\\', '/', '//', '.', '. ', ',', ':', ';', '-', '_', '@', '#', '='],
  ...[
    ' ',
    '\n',
    '\t',
    'a',
    'a ',
    ' a',
    'A',
    'a.',
    '.a',
    'a@',
    'a:',
    'a_',
    'a-',
    '0',
    '0 ',
    '0.',
    '! ',
    '\u0301',
    '\u4e2d',
  ],
]
const ENDS = ['', '\0', '\n!']

/** Tests the pattern with repetitions of characters that are typically slow, and of the pattern's own literals after its own prefix. */
function attack(pattern: RegExp): string | null {
  const words = [...new Set(pattern.source.match(/[\w '-]+/g) ?? [])].slice(0, MOST_OWN)
  const beginnings = ['', ...words.slice(0, 3), ...words.slice(0, 3).map((_, at) => words.slice(0, at + 2).join(''))]
  for (const unit of [...UNITS, ...words, ...words.map(word => `${word} `)]) {
    for (const beginning of new Set(unit.length > 2 ? [''] : beginnings)) {
      for (const end of ENDS) {
        const write = (chars: number) => beginning + unit.repeat(Math.ceil(chars / unit.length)) + end
        if (isSlow(pattern, write))
          return `slow on ${JSON.stringify(beginning)}, ${JSON.stringify(unit)} repeated, ${JSON.stringify(end)}`
      }
    }
  }
  return null
}

function isSlow(pattern: RegExp, write: (chars: number) => string): boolean {
  for (let tried = 0; tried < 3; tried++) {
    const shortMs = timeOf(pattern, write(CHARS))
    if (shortMs < SLOW_MS || timeOf(pattern, write(CHARS * TIMES_LONGER)) < MOST_TIMES * shortMs) return false
  }
  return true
}

function timeOf(pattern: RegExp, text: string): number {
  const startedAtMs = performance.now()
  text.replace(pattern, '')
  return performance.now() - startedAtMs
}

if (import.meta.main) {
  const slow = (await collectPatterns()).flatMap(({ place, source, flags }) => {
    const found = findSlow({ source, flags })
    return found === null ? [] : [`${place} /${source}/${flags}: ${found}`]
  })
  for (const line of slow) process.stdout.write(`${line}\n`)
  process.exit(slow.length > 0 ? 1 : 0)
}
