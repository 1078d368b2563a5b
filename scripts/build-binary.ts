/**
 * `bun run build [--target=linux-arm64]…`: builds the program as one file with all files that it reads (dist/npm/TARGET/model-proxy), and
 * the npm packages that contain it (dist/*.tgz).
 *
 * Modules and files have the same relative paths in the program as in a checkout. So `new URL('./name', import.meta.url)` resolves in both,
 * and every file that the source names in this way is embedded.
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
/** In Node's platform names; `musl` marks Linux without glibc. */
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
/** The root of embedded files in Bun's file system. */
const ROOT_WITHIN = '/$bunfs/root/'
const NAMED = /new URL\(\s*['"]([^'"]+)['"],\s*import\.meta\.url,?\s*\)/g
/** The source, and the packages that refer to their files by URL. */
const SOURCES = [
  'src/**/*.ts',
  'node_modules/@electric-sql/pglite/dist/chunk-*.js',
  'node_modules/@electric-sql/pglite-*/dist/index.js',
]
/** Built pages are embedded instead of their source. The sentence model and its runtime are installed beside the program. */
const LEFT_OUT = /^(src\/dashboard\/pages|vendor)\//
const NOT_PACKED = ['bun-plugin-tailwind', 'onnxruntime-node', '@huggingface/tokenizers']

/** The embedded database's first files, a tar archive. zstd packs them into a third of what gzip needs. */
const CLUSTER = /pglite-prepopulatedfs\/dist\/prepopulatedfs\.tgz$/
const CLUSTER_LEVEL = 19
/** Packages that others use if they happen to be installed. The program never contains them, so that all installations build the same one. */
const OPTIONAL = /^supports-color$/

/** Returns the paths, relative to the root, of files and modules that the source names by URL. */
export function listNamed(): string[] {
  const sources = SOURCES.flatMap(pattern => [...new Bun.Glob(pattern).scanSync(ROOT)])
  const named = sources.flatMap(source =>
    Array.from(readFileSync(join(ROOT, source), 'utf8').matchAll(NAMED), ([, path = '']) =>
      join(dirname(source), path),
    ),
  )
  return [...new Set(named.filter(path => !LEFT_OUT.test(`${path}/`)).flatMap(filesAt))].sort()
}

/** The files of a directory, or the file itself. */
function filesAt(path: string): string[] {
  const isFolder = statSync(join(ROOT, path)).isDirectory()
  return isFolder ? Array.from(new Bun.Glob('**/*').scanSync(join(ROOT, path)), name => join(path, name)) : [path]
}

/** Replaces each module's URL by its URL in the program, and embeds `files` with the entry point. */
function keepAddresses(files: readonly string[]): BunPlugin {
  return {
    name: 'keep-addresses',
    setup(build) {
      build.onResolve({ filter: OPTIONAL }, ({ path }) => ({ path, namespace: 'optional' }))
      build.onLoad({ filter: /./, namespace: 'optional' }, () => ({ contents: 'module.exports = {}', loader: 'js' }))
      build.onLoad({ filter: CLUSTER }, ({ path }) => ({
        contents: Bun.zstdCompressSync(Bun.gunzipSync(readFileSync(path)), { level: CLUSTER_LEVEL }),
        loader: 'file',
      }))
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path, loader }) => {
        const place = relative(ROOT, path)
        if (files.includes(place)) return { contents: readFileSync(path), loader: 'file' }
        const at = `${ROOT_WITHIN}${place}`
        const text = readFileSync(path, 'utf8')
          .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(`file://${at}`))
          .replaceAll(/\bimport\.meta\.(path|filename)\b/g, JSON.stringify(at))
          .replaceAll(/\bimport\.meta\.(dir|dirname)\b/g, JSON.stringify(dirname(at)))
          // Of CommonJS modules. Otherwise the bundler inserts the builder's paths, and no other folder builds the same program.
          .replaceAll(/(?<![.\w$])__filename\b(?!\s*[=:])/g, JSON.stringify(at))
          .replaceAll(/(?<![.\w$])__dirname\b(?!\s*[=:])/g, JSON.stringify(dirname(at)))
        const packed =
          place === ENTRY ? files.map(file => `import ${JSON.stringify(join(ROOT, file))} with { type: 'file' }\n`) : []
        return { contents: packed.join('') + text, loader }
      })
    },
  }
}

/** Builds the program for one platform. */
async function compile(target: Target, outfile: string): Promise<void> {
  const named = listNamed()
  const modules = named.filter(path => path.endsWith('.ts'))
  await Bun.build({
    entrypoints: [...new Set([ENTRY, ...modules])].map(path => join(ROOT, path)),
    root: ROOT,
    target: 'bun',
    format: 'esm',
    splitting: true,
    // The top-level code of modules, compiled in advance. Functions too would start faster, but add ten MB to a download.
    bytecode: true,
    bytecodeDepth: 0,
    minify: { whitespace: true, syntax: true, identifiers: false },
    naming: { entry: '[dir]/[name].ts', asset: '[dir]/[name].[ext]' },
    external: NOT_PACKED,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [keepAddresses(named.filter(path => !modules.includes(path)))],
    // Ignores the Bun configuration of the directory in which the program starts: it may be another program's.
    compile: {
      target: `bun-${target.replace('win32', 'windows')}` as Bun.Build.CompileTarget,
      outfile,
      autoloadBunfig: false,
      // Required to resolve the sentence model's runtime.
      autoloadPackageJson: true,
    },
  })
}

/** Packs a package's directory with `npm pack`. */
async function pack(folder: string, manifest: object, files: Record<string, string>): Promise<void> {
  const { description, license, version } = PACKAGE
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ ...manifest, version, description, license }, null, 2))
  for (const [name, from] of Object.entries({ ...files, LICENSE: 'LICENSE', 'README.md': 'README.md' }))
    await $`cp ${join(ROOT, from)} ${join(folder, name)}`
  await $`bun pm pack --quiet --destination ${DIST}`.cwd(folder)
}

/** Builds one package per platform, of which npm installs the matching one. */
async function packProgram(target: Target): Promise<void> {
  const [os, cpu, libc] = target.split('-')
  const file = `model-proxy${os === 'win32' ? '.exe' : ''}`
  const folder = join(DIST, 'npm', target)
  await mkdir(folder, { recursive: true })
  await compile(target, join(folder, file))
  const limits = { os: [os], cpu: [cpu], ...(os === 'linux' ? { libc: [libc ?? 'glibc'] } : {}) }
  await pack(folder, { name: `model-proxy-${target}`, ...limits, preferUnplugged: true }, {})
}

/** Builds the package that users install by name. */
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
  if (wrong.length > 0) throw new Error(`unknown target ${wrong}; expected one of ${TARGETS.join(', ')}`)
  await rm(join(DIST, 'npm'), { recursive: true, force: true })
  for (const target of values.target.filter(isTarget)) await packProgram(target)
  await packLauncher()
  for (const name of new Bun.Glob('*.tgz').scanSync(DIST)) process.stdout.write(`dist/${name}\n`)
}
