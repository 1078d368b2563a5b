/** Installs Codex, Claude Code, opencode, Cline and Mastra from npm in a folder of their own. The 1.4 GB are kept for later runs. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGES = [
  '@openai/codex@0.169.0',
  '@anthropic-ai/claude-code@2.1.330',
  'opencode-ai@1.18.33',
  // The program that `cline` starts. The package of that name installs 290 MB more.
  `@cline/cli-${process.platform}-${process.arch}@3.0.65`,
  '@mastra/core@1.71.0',
]
const TIME_LIMIT_MS = 300_000

/** Returns the folder with the installed modules; commands are in `.bin`. An earlier installation is reused. */
export async function installClients(): Promise<string> {
  const folder = join(tmpdir(), `model-proxy-clients-${Bun.SHA256.hash(PACKAGES.join(), 'hex').slice(0, 12)}`)
  const modules = join(folder, 'node_modules')
  if (existsSync(join(folder, 'complete'))) return modules
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), '{"private":true}')
  const installing = Bun.spawn(['npm', 'install', '--no-audit', '--no-fund', ...PACKAGES], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: TIME_LIMIT_MS,
  })
  const complaint = await new Response(installing.stderr).text()
  if ((await installing.exited) !== 0) throw new Error(`npm install failed: ${complaint}`)
  await Bun.write(join(folder, 'complete'), '')
  return modules
}
