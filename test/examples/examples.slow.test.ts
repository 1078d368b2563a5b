/** The commands of the examples' READMEs, run unchanged beside a proxy. Only the providers are fake. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Usage } from '@anthropic-ai/sdk/resources/messages'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { installClients } from '../clients/command-line/install-clients.ts'
import { preparePython } from '../clients/python/prepare-python.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { blocksOf, ROOT } from '../harness/docs-blocks.ts'
import { duringTests } from '../harness/during-tests.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { psqlPath } from '../integration/run-psql.ts'
import { type ExampleProxy, findCommands, readExample, startExample } from './start-example.ts'

const python = await preparePython()
if ('missing' in python) process.stdout.write(`The example in Python is skipped: ${python.missing}.\n`)
const FOLDERS = readdirSync(join(ROOT, 'examples'), { withFileTypes: true }).filter(entry => entry.isDirectory())

describe.skipIf(psqlPath === null)(psqlPath === null ? 'skipped: psql is not installed' : 'examples', () => {
  const upstreams = duringTests(startUpstreams)
  const ollama = duringTests(startFakeProvider)
  let example: ExampleProxy

  beforeAll(async () => {
    example = await startExample({ ...upstreams.environment, OLLAMA_BASE_URL: ollama.baseUrl })
  })
  beforeEach(() => upstreams.reset())
  afterAll(async () => {
    example?.proxy.signal('SIGTERM')
  })

  /** A miss that cost something, a free hit, and a request that the budget cannot pay for. */
  const BUDGET_LINES = [
    expect.stringMatching(/^MISS cost [\d.e-]+ left 0\.00\d+$/),
    'HIT cost 0 left -',
    'insufficient_quota',
  ]

  test.skipIf('missing' in python)('python: prints cache, cost and budget, and is stopped by the budget', async () => {
    if ('missing' in python) return
    const commands = findCommands('python').join('\n').replace('python3', python.python)
    const lines = (await example.shell(commands, python.environment)).trim().split('\n')
    expect(lines.slice(-3)).toEqual(BUDGET_LINES)
    expect(upstreams.aggregator.requests).toHaveLength(1)
  })

  test('node: streams, prints cache, cost and budget, and is stopped by the budget', async () => {
    upstreams.aggregator.script({ kind: 'answer', content: 'The Loire.' })
    const lines = (await example.shell(findCommands('node').join('\n'))).trim().split('\n')
    const [miss, hit, exceeded] = BUDGET_LINES
    expect(lines.slice(-5)).toEqual(['The Loire.', miss, 'The Loire.', hit, exceeded])
    expect(upstreams.aggregator.requests).toHaveLength(1)
  })

  test('ollama: answers for free, and the paid vendor once it is stopped', async () => {
    const [local = '', paid = ''] = findCommands('ollama')
    ollama.script({ kind: 'answer', content: 'Rome.' })
    const first = await example.shell(local)
    expect(first).toMatch(/^x-proxy-provider: ollama$/im)
    expect(first).toMatch(/^x-proxy-cost-usd: 0$/im)
    expect(first).toContain('Rome.')
    await ollama.stop()
    upstreams.aggregator.script({ kind: 'answer', content: 'Franz Kafka.' })
    const second = await example.shell(paid)
    expect(second).toMatch(/^x-proxy-provider: openrouter$/im)
    expect(second).toMatch(/^proxy-status: .*next-hop="ollama".*kind=connection_refused/im)
    expect(second).toContain('Franz Kafka.')
  })

  test('move-from-litellm: imports a team with its budget, and its key is accepted', async () => {
    const [imports = '', request = ''] = blocksOf('examples/move-from-litellm/README.md')
    const DATA_DIR = createTemporaryDirectory()
    const { OPENAI_BASE_URL = '' } = upstreams.environment
    const commands = imports.replace('$PWD/data/moved', DATA_DIR).replace('sk-… ', 'sk-own ').replace('5434', '0')
    const printed = await example.shell(commands.replace(/^PORT=.*$/m, ''), { OPENAI_BASE_URL })
    expect(printed.match(/^(?:Dry run|Imported).*:$/gm)).toHaveLength(2)
    expect(printed).toContain('key: 1 new')
    const proxy = await startProxyProcess({ DATA_DIR, EMBEDDED_PG_PORT: '0', METRICS_PORT: '0' })
    upstreams.openai.script({ kind: 'answer', content: 'Franz Kafka.' })
    const answer = await example.shell(request.replace('127.0.0.1:3001', `127.0.0.1:${proxy.port}`))
    expect(answer).toContain('Franz Kafka.')
    expect(answer).toMatch(/^x-proxy-budget-remaining-usd: 37\./im)
    proxy.signal('SIGTERM')
  })

  test('agent-session: the second turn reads the prompt cache, and the session shows what it saved', async () => {
    const usage = (read: number, write: number): Partial<Usage> => ({
      input_tokens: 200,
      output_tokens: 20,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: write,
    })
    upstreams.anthropic.script(({ bodyText }) => {
      // Anthropic caches only what a breakpoint ends.
      expect(bodyText).toContain('"cache_control"')
      const { messages } = JSON.parse(bodyText)
      if (messages.length > 1)
        return {
          kind: 'answer',
          content: [{ type: 'text', text: 'It gets a 429.', citations: null }],
          usage: usage(5_000, 0),
        }
      const call = {
        type: 'tool_use' as const,
        id: 'toolu_1',
        name: 'read_page',
        input: { page: 'budgets' },
        caller: { type: 'direct' as const },
      }
      return { kind: 'answer', content: [call], stopReason: 'tool_use', usage: usage(0, 5_000) }
    })
    const commands = findCommands('agent-session').join('\n')
    const lines = (await example.shell(commands, { ANTHROPIC_API_KEY: 'sk-ant-own' })).trim().split('\n')
    expect(lines.slice(-3)).toEqual([
      'turn 1: 5200 prompt tokens, 0 from the prompt cache',
      'turn 2: 5200 prompt tokens, 5000 from the prompt cache',
      // Claude Haiku 4.5: $1 for a million prompt tokens, 5 of output; writing the cache costs 1.25, reading it 0.1.
      'session: 2 requests, $0.007350, prompt cache saved $0.003250',
    ])
    expect(upstreams.anthropic.requests.at(-1)?.bodyText).toContain('# Budgets')
  })

  test.skipIf(process.env.COMMAND_LINE_CLIENTS === 'off')(
    'coding-agents: Claude Code and Codex answer with one key',
    { timeout: 500_000 },
    async () => {
      const bin = join(await installClients(), '.bin')
      const HOME = createTemporaryDirectory()
      const PATH = `${bin}:${process.env.PATH}`
      upstreams.aggregator.script({ kind: 'answer', content: 'It is Paris.' })
      for (const [command, model] of [
        ['claude -p', 'anthropic/claude-sonnet-5'],
        ['codex exec', 'openai/gpt-5.4'],
      ] as const) {
        const block = findCommands('coding-agents').find(text => text.includes(command)) ?? ''
        const environment = { HOME, PATH, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
        expect(await example.shell(block, environment)).toContain('It is Paris.')
        expect(upstreams.aggregator.requests.map(({ bodyText }) => JSON.parse(bodyText).model)).toContain(model)
      }
    },
  )

  test.each(FOLDERS.map(({ name }) => name))('%s has a README of at most 25 lines, which the list names', name => {
    const lines = readExample(`${name}/README.md`).trim().split('\n')
    expect(lines.length).toBeLessThanOrEqual(25)
    expect(readExample('README.md')).toContain(`](${name}/README.md)`)
    expect(blocksOf(`examples/${name}/README.md`).length).toBeGreaterThan(0)
  })
})
