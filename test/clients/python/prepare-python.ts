/** The Python of the clients: the machine's CPython, with the packages of requirements.txt in a folder of their own. */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const LEAST_VERSION = [3, 11]
const TIME_LIMIT_MS = 240_000

export interface Python {
  /** Path of the interpreter. */
  python: string
  /** The environment of the interpreter. Bytecode is cached beside the packages, not in this folder. */
  environment: { PYTHONPYCACHEPREFIX: string; PYTHONDONTWRITEBYTECODE: '' }
}

/** Returns the interpreter, or the reason why there is none. Packages are kept for later runs until their pinned versions change. */
export async function preparePython(): Promise<Python | { missing: string }> {
  const version = await run(['python3', '-c', 'import sys; print(*sys.version_info[:2])']).catch(() => null)
  if (version === null) return { missing: 'there is no python3' }
  const [major = 0, minor = 0] = version.trim().split(' ').map(Number)
  if (major !== LEAST_VERSION[0] || minor < (LEAST_VERSION[1] ?? 0)) {
    return { missing: `python3 is ${major}.${minor}, and ${LEAST_VERSION.join('.')} is needed` }
  }
  if ((await run(['python3', '-m', 'pip', '--version']).catch(() => null)) === null)
    return { missing: 'python3 has no pip' }
  const pinned = await Promise.all(['uv.txt', 'requirements.txt'].map(file => Bun.file(join(HERE, file)).text()))
  const digest = Bun.SHA256.hash(`${major}.${minor} ${pinned.join()}`, 'hex').slice(0, 12)
  const folder = join(tmpdir(), `model-proxy-python-${digest}`)
  const python = join(folder, 'bin', 'python')
  try {
    await installOnce(folder, python)
    // Overrides a machine's setting that disables bytecode: compiling a hundred packages takes longer than the tests.
    return { python, environment: { PYTHONPYCACHEPREFIX: join(folder, 'compiled'), PYTHONDONTWRITEBYTECODE: '' } }
  } catch (error) {
    return { missing: `its packages do not install (${String(error).split('\n')[0]})` }
  }
}

/** Test files run in parallel. One of them installs, and the others wait for it. */
async function installOnce(folder: string, python: string): Promise<void> {
  const lock = `${folder}-lock`
  for (const deadlineMs = performance.now() + TIME_LIMIT_MS; performance.now() < deadlineMs; await Bun.sleep(200)) {
    if (existsSync(join(folder, 'complete'))) return
    const isMine = await mkdir(lock).then(
      () => true,
      () => false,
    )
    if (isMine) return await install(folder, python).finally(() => rm(lock, { recursive: true, force: true }))
  }
  throw new Error(`another process has been installing them for too long; if there is none, remove ${lock}`)
}

/** Installs with uv, which installs a hundred packages in seconds. pip installs uv. */
async function install(folder: string, python: string): Promise<void> {
  const tools = `${folder}-tools-${process.pid}`
  await rm(folder, { recursive: true, force: true })
  await mkdir(tools, { recursive: true })
  const pip = ['python3', '-m', 'pip', 'install', '--quiet', '--no-deps', '--require-hashes']
  await run([...pip, '--target', tools, '-r', join(HERE, 'uv.txt')])
  await run(['python3', '-m', 'venv', '--without-pip', folder])
  const uv = [join(tools, 'bin', 'uv'), 'pip', 'install', '--quiet', '--no-cache', '--require-hashes']
  await run([...uv, '--python', python, '-r', join(HERE, 'requirements.txt')])
  await rm(tools, { recursive: true, force: true })
  await Bun.write(join(folder, 'unfinished'), '')
  await rename(join(folder, 'unfinished'), join(folder, 'complete'))
}

/** Returns the standard output. Throws with the standard error if the command fails. */
export async function run(command: string[], environment: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: HERE,
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: TIME_LIMIT_MS,
  })
  const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${complaint || out}`.slice(-100_000))
  return out
}
