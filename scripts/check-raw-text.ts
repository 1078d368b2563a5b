/**
 * Rejects searches for words in the raw text of requests and responses: a search does not find a word with an escape (`"\u006dodel"`), but
 * a parser does. Raw text is parsed or forwarded; decisions use parsed values. A search without an effect on decisions has a comment above
 * it: `// raw text: <why>`.
 */
import { parseSync, Visitor } from 'oxc-parser'

const ROOT = new URL('../', import.meta.url).pathname
/** The modules that handle raw text. */
const SOURCES = 'src/{http,pipeline,providers,hooks,formats}/**/*.ts'
/** Names of raw text; a variable that is parsed in the same file is raw text, too. */
const RAW = /^(?:bytes|json|raw|sent|shown)$|(?:Bytes|bodyText|BodyText|jsonText)$/
const PARSES = /^(?:parse(?:Json|JsonObject|Object|Exactly|ExactlyIfValid)|decodeUtf8)$/
/** Search methods of strings and regular expressions. */
const SEARCHES = /^(?:includes|indexOf|lastIndexOf|search|match|matchAll|startsWith|endsWith)$/
const PATTERN_SEARCHES = /^(?:test|exec)$/
/** A pattern without a letter or digit searches for punctuation, which JSON does not escape where it is syntax. */
const WORD = /[A-Za-z0-9]/
/** A pattern for a JSON field or value, which is rejected in any text. */
const QUOTED_WORD = /"(?:\(\?:)?[A-Za-z]\w|\w[A-Za-z]\??"/
const CLASSES = /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[a-z])/gi
const EXCUSE = /\/\/ raw text: \S/

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

/** Returns the lines of a file that search raw text without a comment on the same line or the one above. */
export function findSearches(file: string, source: string): number[] {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed`)
  const patterns = new Map<string, string>()
  const parsed = new Set<string>()
  const calls: Node[] = []
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init) patterns.set(id.name, patternOf(init as unknown as Node, patterns))
    },
    CallExpression(call) {
      const { callee, arguments: given } = call
      const isParser =
        callee.type === 'Identifier'
          ? PARSES.test(callee.name)
          : source.slice(callee.start, callee.end) === 'JSON.parse'
      if (isParser) for (const each of given) if (each.type === 'Identifier') parsed.add(each.name)
      calls.push(call as unknown as Node)
    },
  }).visit(program)
  const lines = source.split('\n')
  const isExcused = (line: number) => [line - 1, line - 2].some(at => EXCUSE.test(lines[at] ?? ''))
  const found = calls
    .filter(call => isSearch(call, patterns, parsed))
    .map(call => source.slice(0, (call.callee as Node).end).split('\n').length)
    .filter(line => !isExcused(line))
  return [...new Set(found)]
}

function isSearch(
  { callee, arguments: given }: Node,
  patterns: ReadonlyMap<string, string>,
  parsed: ReadonlySet<string>,
) {
  const { type, object, property } = callee as Node & { object: Node; property: Node }
  const [first] = given as Node[]
  if (type !== 'MemberExpression' || !first) return false
  const isOfText = SEARCHES.test(String(property.name))
  if (!isOfText && !PATTERN_SEARCHES.test(String(property.name))) return false
  const [text, pattern] = isOfText ? [object, first] : [first, object]
  const looksFor = patternOf(pattern, patterns)
  const isRaw = namesOf(text).some(name => RAW.test(name) || parsed.has(name))
  return isRaw ? WORD.test(looksFor) : QUOTED_WORD.test(looksFor)
}

/** The searched pattern, if the file contains it; otherwise a word. */
function patternOf(node: Node, patterns: ReadonlyMap<string, string>): string {
  const { regex, value, quasis, name } = node as {
    regex?: { pattern: string }
    value?: unknown
    quasis?: Node[]
    name?: string
  }
  if (regex) return regex.pattern.replace(CLASSES, '')
  if (node.type === 'Literal') return typeof value === 'string' ? value : ''
  if (quasis) return quasis.map(each => (each.value as { raw: string }).raw).join('word')
  if (node.type === 'NewExpression') return (node.arguments as Node[]).map(each => patternOf(each, patterns)).join('')
  return (name !== undefined && patterns.get(name)) || (name !== undefined && patterns.has(name) ? '' : 'word')
}

/** The variables of an expression for text: `text` of `text.slice(1)`, `bytes` of `Buffer.from(bytes)`. */
function namesOf(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { type, name } = node as { type?: unknown; name?: unknown }
  if (type === 'Identifier') return [String(name)]
  return Object.values(node).flatMap(part => (Array.isArray(part) ? part.flatMap(namesOf) : namesOf(part)))
}

if (import.meta.main) {
  let hasFound = false
  for (const file of [...new Bun.Glob(SOURCES).scanSync(ROOT)].sort()) {
    for (const line of findSearches(file, await Bun.file(ROOT + file).text())) {
      hasFound = true
      process.stdout.write(`${file}:${line} searches raw text: parse it first\n`)
    }
  }
  process.exit(hasFound ? 1 : 0)
}
