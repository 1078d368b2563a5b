/**
 * Prints the software installed beside the proxy as a CycloneDX document: Bun, and each package of node_modules with its licence, its hash
 * in bun.lock and its dependencies. `--base` adds the Debian packages of an image's base, from a directory with a status file for each. The
 * image contains the document as sbom.cdx.json.
 *
 * Run: bun scripts/write-sbom.ts [--base DIRECTORY] > sbom.cdx.json
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

interface Manifest {
  name: string
  version: string
  license?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const root = fileURLToPath(new URL('..', import.meta.url))
/** The directory of a package, without directories inside it. */
const PACKAGE = /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/

const own: Manifest = await Bun.file(`${root}package.json`).json()
const lock = await Bun.file(`${root}bun.lock`).text()
// A line of the lock file: "place": ["name@version", …, "sha512-…"].
const hashes = new Map(
  Array.from(lock.matchAll(/: \["([^"]+)".*"sha512-([^"]+)"\],?$/gm), ([, id, hash]) => [id, hash]),
)

const paths = await Array.fromAsync(new Bun.Glob('node_modules/**/package.json').scan({ cwd: root, dot: true }))
const installed = new Map<string, Manifest>()
for (const path of paths.filter(each => PACKAGE.test(each)).sort()) {
  const manifest: Manifest = await Bun.file(`${root}${path}`).json()
  // A package that is not in the lock file remains from an earlier installation and is omitted.
  if (hashes.has(`${manifest.name}@${manifest.version}`)) installed.set(path.replace(/\/package\.json$/, ''), manifest)
}

/** A dependency is in the package's own node_modules, or in one further out. */
function find(from: string, name: string): string[] {
  for (let folder = `${from}/`; ; folder = folder.slice(0, folder.lastIndexOf('node_modules/'))) {
    const found = installed.get(`${folder}node_modules/${name}`.replace(/^\//, ''))
    if (found) return [purlOf(found)]
    if (!folder.includes('node_modules/')) return []
  }
}

function purlOf({ name, version }: Manifest): string {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
}

function needsOf(from: string, { dependencies, optionalDependencies, peerDependencies }: Manifest): string[] {
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  return [...new Set(names.flatMap(name => find(from, name)))]
}

function describe(manifest: Manifest) {
  const { name, version, license } = manifest
  const hash = hashes.get(`${name}@${version}`)
  return {
    name,
    version,
    'bom-ref': purlOf(manifest),
    purl: purlOf(manifest),
    ...(hash ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] } : {}),
    // A licence may be an expression, such as `MIT OR Apache-2.0`.
    ...(typeof license === 'string' ? { licenses: [{ expression: license }] } : {}),
  }
}

/** Describes the Debian package of a status file, as `dpkg-query --status` prints it. */
function describeDebianPackage(status: string) {
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(status)?.[1] ?? ''
  const [name, version] = [field('Package'), field('Version')]
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${field('Architecture')}`
  return { type: 'library', name, version, 'bom-ref': purl, purl }
}

async function readBasePackages(folder: string) {
  const files = [...new Bun.Glob('*').scanSync(folder)].sort()
  return await Promise.all(files.map(async file => describeDebianPackage(await Bun.file(join(folder, file)).text())))
}

const { values: options } = parseArgs({ options: { base: { type: 'string' } } })
const basePackages = options.base === undefined ? [] : await readBasePackages(options.base)

// A version that is installed in two places is one component.
const components = new Map(Array.from(installed, ([at, manifest]) => [purlOf(manifest), { at, manifest }]))
const bun = `pkg:github/oven-sh/bun@bun-v${Bun.version}`
const document = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', ...describe(own) } },
  components: [
    { type: 'platform', name: 'bun', version: Bun.version, 'bom-ref': bun, purl: bun },
    ...basePackages,
    ...Array.from(components.values(), ({ manifest }) => ({ type: 'library', ...describe(manifest) })),
  ],
  dependencies: [
    { ref: purlOf(own), dependsOn: [bun, ...needsOf('', { ...own, peerDependencies: {} })] },
    ...(basePackages.length > 0 ? [{ ref: bun, dependsOn: basePackages.map(({ purl }) => purl) }] : []),
    ...Array.from(components, ([ref, { at, manifest }]) => ({ ref, dependsOn: needsOf(at, manifest) })),
  ],
}
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
