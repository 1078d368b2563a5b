/** A Python with OpenAI's own package in it: made once on this machine, where there is a Python to make it with. */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGE = 'openai==3.54.0'
const folder = join(tmpdir(), `model-proxy-python-${PACKAGE.replace('==', '-')}`)
const python = join(folder, 'bin', 'python')
const READY = join(folder, 'ready')

/** Null where there is no Python, or the package cannot be had. */
export async function openPython(): Promise<string | null> {
  if (existsSync(READY)) return python
  const installed = Bun.which('python3')
  if (installed === null) return null
  const made =
    (await run([installed, '-m', 'venv', folder])) &&
    (await run([python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE]))
  if (made) await Bun.write(READY, '')
  else await rm(folder, { recursive: true, force: true })
  return made ? python : null
}

async function run(command: string[]): Promise<boolean> {
  return (await Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' }).exited) === 0
}
