/** Runs snippets as they are copied. */
import { expect } from 'vitest'
import { preparePython } from '../clients/python/prepare-python.ts'

const prepared = await preparePython()

/** The machine's Node. bun puts its own `node` first in PATH for child processes. */
const node = Bun.which('node', { PATH: process.env.PATH?.replace(/[^:]*bun-node[^:]*:/g, '') ?? '' })

/** Commands that read a snippet from standard input. The settings for any client are tested with a shell request after them. */
export const RUNNERS: Record<string, { command: readonly string[]; request?: string }> = {
  curl: { command: ['bash', '-es'] },
  ...('missing' in prepared ? {} : { Python: { command: [prepared.python, '-'] } }),
  ...(node ? { Node: { command: [node, '--input-type=module', '-'] } } : {}),
  'Any client': {
    command: ['bash', '-es'],
    request: '\ncurl -sS "$OPENAI_BASE_URL/models/openai/gpt-4o-mini" -H "Authorization: Bearer $OPENAI_API_KEY"',
  },
}

/** Runs a snippet in this checkout, which has OpenAI's package for Node installed. */
export async function runSnippet(
  language: string,
  snippet: string,
  environment: Record<string, string>,
): Promise<string> {
  const { command = [], request = '' } = RUNNERS[language] ?? {}
  const stdin = new Blob([snippet, request])
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...environment },
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([language, snippet, await child.exited, complaint.slice(0, 2000)]).toMatchObject([language, snippet, 0, {}])
  return out
}
