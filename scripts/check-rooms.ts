/**
 * The dependency rule, part of `bun run check`: the rooms of src/ stand above what they use, and no import goes up.
 */
import { dirname, join, relative } from 'node:path'

/** From the top down. */
const ROOMS = [
  'process',
  'dashboard',
  'admin',
  'http',
  'pipeline',
  'admission',
  'cache',
  'hooks',
  'providers',
  'catalogue',
  'formats',
  'telemetry',
  'config',
  'stores',
  'postgres',
  'event-loop',
  'errors',
]

interface Apart {
  place: string
  /** Parts of it that may. */
  but?: readonly string[]
  from: readonly string[]
  /** But for these. */
  except?: readonly string[]
  why: string
}

const STAGE = 'a stage knows its own job, not the order of stages'

/** What stands above others and still knows nothing of them. */
const APART: readonly Apart[] = [
  {
    place: 'admin/',
    from: ['pipeline/', 'admission/', 'cache/'],
    except: ['cache/verify/', 'cache/text/'],
    why: 'the admin API stands beside the pipeline, on the database; proof alone is a function of two texts',
  },
  { place: 'admission/', from: ['cache/', 'providers/'], why: STAGE },
  { place: 'cache/', but: ['cache/embedders/', 'cache/vectors/'], from: ['providers/'], why: STAGE },
  { place: 'formats/', from: ['stores/', 'postgres/'], why: 'formats know no stores' },
  {
    place: 'pipeline/coalescing/',
    from: ['pipeline/', 'admission/', 'providers/', 'postgres/', 'cache/embedders/', 'cache/vectors/'],
    except: ['pipeline/coalescing/'],
    why: 'a shared call knows nothing of who asks, or of whom',
  },
]

const src = join(import.meta.dir, '../src')
const floorOf = (path: string) => ROOMS.indexOf(path.split('/')[0] ?? '')
const isIn = (path: string, places: readonly string[] = []) => places.some(place => path.startsWith(place))

function faultOf(path: string, target: string): string | null {
  const [here, there] = [floorOf(path), floorOf(target)]
  if (here < 0) return `${path} is in no room`
  if (there < 0) return null
  if (there < here) return `${path} imports ${target}, which stands above it`
  const apart = APART.find(
    ({ place, but, from, except }) =>
      isIn(path, [place]) && !isIn(path, but) && isIn(target, from) && !isIn(target, except),
  )
  return apart ? `${path} imports ${target}: ${apart.why}` : null
}

const transpiler = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }

/** Imports of types, too: the transpiler leaves them out. */
function importsOf(path: string, text: string): string[] {
  const loaded = transpiler[path.endsWith('x') ? 'tsx' : 'ts'].scanImports(text).map(({ path: named }) => named)
  const typed = Array.from(text.matchAll(/^(?:import|export) [^'"]*? from '(\.[^']+)'/gm), ([, named = '']) => named)
  return [...new Set([...loaded, ...typed])].filter(named => named.startsWith('.'))
}

const faults: string[] = []
for (const path of new Bun.Glob('**/*.{ts,tsx}').scanSync(src)) {
  const text = await Bun.file(join(src, path)).text()
  for (const named of importsOf(path, text)) {
    const fault = faultOf(path, relative(src, join(src, dirname(path), named)))
    if (fault) faults.push(fault)
  }
}
for (const fault of faults.sort()) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
