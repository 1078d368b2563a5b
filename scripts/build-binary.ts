/**
 * `bun run build [--target=linux-arm64]…`: the program as one file with all that it reads (dist/npm/TARGET/model-proxy), and npm's packages of
 * it (dist/*.tgz).
 *
 * In the file, every module and every file keeps the address that it has in a checkout, below another root. So `new URL('./name',
 * import.meta.url)` finds what it names in both, and what is packed is what the source names in this way.
 */
import { readFileSync, statSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { $, type BunPlugin } from 'bun'
import PACKAGE from '../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')
/** As Node names platforms; on Linux, musl where it is not glibc. */
const TARGETS = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64',
] as const
type Target = (typeof TARGETS)[number]
const isTarget = (name: string): name is Target => TARGETS.some(target => target === name)
const OWN_TARGET = `${process.platform}-${process.arch}`
const ENTRY = 'src/process/server.ts'
/** Where Bun keeps what is packed into a program. */
const ROOT_WITHIN = '/$bunfs/root/'
const NAMED = /new URL\(\s*['"]([^'"]+)['"],\s*import\.meta\.url,?\s*\)/g
/** The source, and the packages that name their files in the same way. */
const SOURCES = [
  'src/**/*.ts',
  'node_modules/@electric-sql/pglite/dist/chunk-*.js',
  'node_modules/@electric-sql/pglite-*/dist/index.js',
]
/** The pages are packed as they are served, not their source; the sentence model and its runtime are installed beside the program. */
const LEFT_OUT = /^(src\/dashboard\/pages|vendor)\//
const NOT_PACKED = ['bun-plugin-tailwind', 'onnxruntime-node', '@huggingface/tokenizers']

/** Paths, below the root, of the files and modules that the source names by their addresses. */
export function listNamed(): string[] {
  const sources = SOURCES.flatMap(pattern => [...new Bun.Glob(pattern).scanSync(ROOT)])
  const named = sources.flatMap(source =>
    Array.from(readFileSync(join(ROOT, source), 'utf8').matchAll(NAMED), ([, path = '']) =>
      join(dirname(source), path),
    ),
  )
  return [...new Set(named.flatMap(filesAt))].filter(path => !LEFT_OUT.test(path)).sort()
}

/** A folder's files, or the file itself. */
function filesAt(path: string): string[] {
  const isFolder = statSync(join(ROOT, path)).isDirectory()
  return isFolder ? Array.from(new Bun.Glob('**/*').scanSync(join(ROOT, path)), name => join(path, name)) : [path]
}

/** Gives each module the address that the packed program has it at, and packs `files` with the entry point. */
function keepAddresses(files: readonly string[]): BunPlugin {
  return {
    name: 'keep-addresses',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path, loader }) => {
        const place = relative(ROOT, path)
        if (files.includes(place)) return { contents: readFileSync(path), loader: 'file' }
        const at = `${ROOT_WITHIN}${place}`
        const text = readFileSync(path, 'utf8')
          .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(`file://${at}`))
          .replaceAll(/\bimport\.meta\.(path|filename)\b/g, JSON.stringify(at))
          .replaceAll(/\bimport\.meta\.(dir|dirname)\b/g, JSON.stringify(dirname(at)))
        const packed =
          place === ENTRY ? files.map(file => `import ${JSON.stringify(join(ROOT, file))} with { type: 'file' }\n`) : []
        return { contents: packed.join('') + text, loader }
      })
    },
  }
}

/** Packs the program for one platform into a file. */
async function compile(target: Target, outfile: string): Promise<void> {
  const named = listNamed()
  const modules = named.filter(path => path.endsWith('.ts'))
  await Bun.build({
    entrypoints: [...new Set([ENTRY, ...modules])].map(path => join(ROOT, path)),
    root: ROOT,
    target: 'bun',
    splitting: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    naming: { entry: '[dir]/[name].ts', asset: '[dir]/[name].[ext]' },
    external: NOT_PACKED,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [keepAddresses(named.filter(path => !modules.includes(path)))],
    // Another program's settings of Bun, in the folder where this one starts, are not for it.
    compile: {
      target: `bun-${target.replace('win32', 'windows')}` as Bun.Build.CompileTarget,
      outfile,
      autoloadBunfig: false,
      // Finds what runs a sentence model.
      autoloadPackageJson: true,
    },
  })
}

/** A package's folder, packed as npm packs it. */
async function pack(folder: string, manifest: object, files: Record<string, string>): Promise<void> {
  const { description, license, version } = PACKAGE
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ ...manifest, version, description, license }, null, 2))
  for (const [name, from] of Object.entries({ ...files, LICENSE: 'LICENSE', 'README.md': 'README.md' }))
    await $`cp ${join(ROOT, from)} ${join(folder, name)}`
  await $`bun pm pack --quiet --destination ${DIST}`.cwd(folder)
}

/** One package for each platform: npm installs the one that fits. */
async function packProgram(target: Target): Promise<void> {
  const [os, cpu, libc] = target.split('-')
  const file = `model-proxy${os === 'win32' ? '.exe' : ''}`
  const folder = join(DIST, 'npm', target)
  await mkdir(folder, { recursive: true })
  await compile(target, join(folder, file))
  const limits = { os: [os], cpu: [cpu], ...(os === 'linux' ? { libc: [libc ?? 'glibc'] } : {}) }
  await pack(folder, { name: `model-proxy-${target}`, ...limits, preferUnplugged: true }, {})
}

/** The package that people name. */
async function packLauncher(): Promise<void> {
  const folder = join(DIST, 'npm', 'model-proxy')
  await mkdir(folder, { recursive: true })
  const optionalDependencies = Object.fromEntries(TARGETS.map(target => [`model-proxy-${target}`, PACKAGE.version]))
  const bin = { 'model-proxy': 'launch.cjs' }
  const manifest = { name: 'model-proxy', bin, engines: { node: '>=18' }, optionalDependencies }
  await pack(folder, manifest, { 'launch.cjs': 'scripts/npm/launch.cjs' })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { target: { type: 'string', multiple: true, default: [OWN_TARGET] } } })
  const wrong = values.target.filter(target => !isTarget(target))
  if (wrong.length > 0) throw new Error(`No such target: ${wrong}. There are ${TARGETS.join(', ')}`)
  await rm(join(DIST, 'npm'), { recursive: true, force: true })
  for (const target of values.target.filter(isTarget)) await packProgram(target)
  await packLauncher()
  for (const name of new Bun.Glob('*.tgz').scanSync(DIST)) process.stdout.write(`dist/${name}\n`)
}
