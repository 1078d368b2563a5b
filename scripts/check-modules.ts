/**
 * Checks the dependency rule; part of `bun run check`. It fails if
 * - a module of `src` imports a module that is above it in `MODULES`, or is not listed there;
 * - an import is listed in `FORBIDDEN`;
 * - the groups of a module import each other in a cycle, or, if the module has an `order`, upwards (a worker job's URL is an import);
 * - a module has more lines than its budget.
 *
 * A group is a directory of a module; a file in the module's own directory is a group of its own.
 */
import { dirname, join, relative } from 'node:path'

interface Module {
  name: string
  /** Upper bound of the lines of all its files. Raise it in the commit that needs more. */
  maxLines: number
  /** Its groups from top to bottom, as paths in the module. A file belongs to the longest path that contains it. */
  order?: readonly string[]
}

/** From top to bottom. */
const MODULES: readonly Module[] = [
  { name: 'process', maxLines: 4_800 },
  { name: 'dashboard', maxLines: 13_300 },
  { name: 'admin', maxLines: 7_450 },
  { name: 'http', maxLines: 2_250 },
  {
    name: 'pipeline',
    maxLines: 12_800,
    order: [
      'pipeline.ts',
      'endpoints',
      'endpoints/realtime',
      'endpoints/completions',
      'endpoints/embeddings',
      'endpoints/pass-through',
      'stored-objects',
      'stored-objects/batches',
      'models',
      'upstream',
      'response',
      'hook-checks',
      'context',
      'conversations',
      'accounting',
      'spending',
      'ownership',
      'coalescing',
      'request',
    ],
  },
  { name: 'admission', maxLines: 1_700 },
  { name: 'cache', maxLines: 8_000 },
  { name: 'hooks', maxLines: 300 },
  { name: 'providers', maxLines: 10_300 },
  { name: 'catalogue', maxLines: 1_000 },
  { name: 'formats', maxLines: 12_000 },
  { name: 'telemetry', maxLines: 2_160 },
  { name: 'config', maxLines: 930 },
  { name: 'stores', maxLines: 2_150 },
  { name: 'postgres', maxLines: 7_800 },
  { name: 'event-loop', maxLines: 1_300 },
  { name: 'errors', maxLines: 1_050 },
]

interface ForbiddenImports {
  /** Directories that must not import files of `to`. */
  from: string
  /** Parts of `from` that may import them. */
  fromExcept?: readonly string[]
  /** Directories that `from` must not import. */
  to: readonly string[]
  /** Parts of `to` that may be imported. */
  toExcept?: readonly string[]
  reason: string
}

const STAGE = 'a stage does not know the order of stages'

/** Imports that are forbidden although they go downwards. */
const FORBIDDEN: readonly ForbiddenImports[] = [
  {
    from: 'admin/',
    to: ['pipeline/', 'admission/', 'cache/'],
    toExcept: ['cache/verify/', 'cache/text/', 'cache/reasons.ts'],
    reason:
      'the admin API works on the database, beside the pipeline; only the comparison of two texts and the descriptions of reasons are shared',
  },
  { from: 'admission/', to: ['cache/', 'providers/'], reason: STAGE },
  { from: 'cache/', fromExcept: ['cache/embedders/', 'cache/vectors/'], to: ['providers/'], reason: STAGE },
  { from: 'formats/', to: ['stores/', 'postgres/'], reason: 'formats do not access stores' },
  {
    from: 'pipeline/coalescing/',
    to: ['pipeline/', 'admission/', 'providers/', 'postgres/', 'cache/embedders/', 'cache/vectors/'],
    toExcept: ['pipeline/coalescing/'],
    reason: 'a shared call does not depend on its callers or on its provider',
  },
]

interface AcceptedImport {
  from: string
  to: string
  reason: string
}

/** Imports inside a module that are accepted although they close a cycle of groups. */
const ACCEPTED: readonly AcceptedImport[] = [
  {
    from: 'formats/api-format.ts',
    to: 'formats/chat/completeness.ts',
    reason: 'a type of the interface that chat implements',
  },
  {
    from: 'formats/sse/chunk-reader.ts',
    to: 'formats/chat/completeness.ts',
    reason: 'reads chunks of chat streams; every other file of sse is independent of the format',
  },
  {
    from: 'providers/upstream.ts',
    to: 'providers/credentials/credentials.ts',
    reason: 'the interface of providers names types of the parts that implement it',
  },
  {
    from: 'providers/upstream.ts',
    to: 'providers/analyze-response.ts',
    reason: 'the interface of providers names types of the parts that implement it',
  },
  {
    from: 'providers/upstream.ts',
    to: 'providers/response-stream.ts',
    reason: 'the interface of providers names types of the parts that implement it',
  },
]

const src = join(import.meta.dir, '../src')
const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
const isIn = (path: string, places: readonly string[] = []) => places.some(place => path.startsWith(place))
const moduleOf = (path: string) => MODULES.findIndex(({ name }) => name === path.split('/')[0])

/** Includes type imports, which the transpiler omits. */
function importsOf(path: string, text: string): string[] {
  const loaded = transpilers[path.endsWith('x') ? 'tsx' : 'ts']
    .scanImports(text)
    .map(({ path: specifier }) => specifier)
  const typed = Array.from(
    text.matchAll(/^(?:import|export) [^'"]*? from '(\.[^']+)'/gm),
    ([, specifier = '']) => specifier,
  )
  const relatives = [...new Set([...loaded, ...typed])].filter(specifier => specifier.startsWith('.'))
  return relatives.map(specifier => resolveFrom(path, specifier))
}

/** Returns the files of worker jobs whose URLs the file names. */
function jobsOf(path: string, text: string): string[] {
  const urls = text.matchAll(/new URL\('(\.[^']*\/jobs\.ts)', import\.meta\.url\)/g)
  return Array.from(urls, ([, specifier = '']) => resolveFrom(path, specifier))
}

const resolveFrom = (path: string, specifier: string) => relative(src, join(src, dirname(path), specifier))

function findFault(from: string, to: string): string | null {
  const [above, below] = [moduleOf(from), moduleOf(to)]
  if (above < 0) return `${from} is in no module; add its directory to MODULES`
  if (below < 0) return null
  if (below < above) return `${from} imports ${to}, which is above it`
  const rule = FORBIDDEN.find(
    candidate =>
      isIn(from, [candidate.from]) &&
      !isIn(from, candidate.fromExcept) &&
      isIn(to, candidate.to) &&
      !isIn(to, candidate.toExcept),
  )
  return rule ? `${from} imports ${to}: ${rule.reason}` : null
}

/** Returns the group of a file as a path in the module. */
function groupOf(path: string, { name, order }: Module): string {
  const inside = path.slice(name.length + 1)
  if (!order) return inside.split('/', 1)[0] ?? ''
  const containing = order.filter(group => inside === group || inside.startsWith(`${group}/`))
  return containing.sort((a, b) => b.length - a.length)[0] ?? inside
}

function findOrderFault(
  from: string,
  to: string,
  { name, order }: Module,
  groups: readonly [string, string],
): string | null {
  if (!order) return null
  const [above, below] = groups.map(group => order.indexOf(group)) as [number, number]
  if (above < 0) return `${from} is in no group; add it to the order of ${name}`
  return below < above ? `${from} imports ${to}, which is above it in ${name}` : null
}

type Graph = Map<string, Set<string>>

/** Returns the groups of one cycle, in order; null if there is none. */
function findCycle(graph: Graph): string[] | null {
  const finished = new Set<string>()
  const visit = (group: string, path: readonly string[]): string[] | null => {
    if (path.includes(group)) return [...path.slice(path.indexOf(group)), group]
    if (finished.has(group)) return null
    for (const next of graph.get(group) ?? []) {
      const cycle = visit(next, [...path, group])
      if (cycle) return cycle
    }
    finished.add(group)
    return null
  }
  for (const group of graph.keys()) {
    const cycle = visit(group, [])
    if (cycle) return cycle
  }
  return null
}

const faults: string[] = []
const unusedExceptions = new Set(ACCEPTED)
const graphs = new Map<Module, Graph>(MODULES.map(module => [module, new Map()]))

function checkInside(from: string, to: string): void {
  const module = MODULES[moduleOf(from)]
  if (!module || moduleOf(to) !== moduleOf(from)) return
  const [group, imported] = [groupOf(from, module), groupOf(to, module)]
  if (group === imported) return
  const accepted = ACCEPTED.find(exception => exception.from === from && exception.to === to)
  if (accepted) return void unusedExceptions.delete(accepted)
  const fault = findOrderFault(from, to, module, [group, imported])
  if (fault) faults.push(fault)
  const graph = graphs.get(module)
  graph?.set(group, (graph.get(group) ?? new Set()).add(imported))
}

for (const path of new Bun.Glob('**/*.{ts,tsx}').scanSync(src)) {
  const text = await Bun.file(join(src, path)).text()
  for (const imported of importsOf(path, text)) {
    const fault = findFault(path, imported)
    if (fault) faults.push(fault)
    checkInside(path, imported)
  }
  if (MODULES[moduleOf(path)]?.order) for (const jobs of jobsOf(path, text)) checkInside(path, jobs)
}

for (const [{ name }, graph] of graphs) {
  const cycle = findCycle(graph)
  if (cycle) faults.push(`groups of ${name} import each other: ${cycle.join(' → ')}`)
}
for (const { from, to } of unusedExceptions) faults.push(`${from} no longer imports ${to}; remove it from ACCEPTED`)

const listed = Bun.spawnSync(['git', 'ls-files', '-z', 'src'], { cwd: join(src, '..') }).stdout.toString()
const sizes = new Map<string, number>()
// A packed file has no lines.
for (const file of listed.split('\0').filter(name => name !== '' && !name.endsWith('.br'))) {
  const text = await Bun.file(join(src, '..', file))
    .text()
    .catch(() => '')
  const [, name = ''] = file.split('/')
  sizes.set(name, (sizes.get(name) ?? 0) + text.split('\n').length - 1)
}
for (const { name, maxLines } of MODULES) {
  const lines = sizes.get(name) ?? 0
  process.stdout.write(`${name.padEnd(12)}${`${lines}`.padStart(6)} of ${maxLines} lines\n`)
  if (lines > maxLines)
    faults.push(`${name} has ${lines} lines, ${lines - maxLines} over its budget; remove some, or raise it`)
}

for (const fault of faults.sort()) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
