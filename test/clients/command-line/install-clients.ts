/** Codex, Claude Code and opencode from npm, in a folder of their own, kept for the next run: 1.1 GB. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGES = ['@openai/codex@0.169.0', '@anthropic-ai/claude-code@2.1.330', 'opencode-ai@1.18.33']
const TIME_LIMIT_MS = 300_000

/** The folder with their commands. What was installed before is used again. */
export async function installClients(): Promise<string> {
  const name = PACKAGES.join('+').replace(/[^\w.+-]/g, '-')
  const folder = join(tmpdir(), `model-proxy-clients-${name}`)
  const commands = join(folder, 'node_modules', '.bin')
  if (existsSync(join(folder, 'complete'))) return commands
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
  return commands
}
