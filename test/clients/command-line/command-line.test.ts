/** Codex, Claude Code, opencode, Cline and Mastra; only their base URL and key are changed. `COMMAND_LINE_CLIENTS=off` skips them. */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStrictOpenAi, FINAL_TEXT as STRICT_OPENAI_TEXT } from '../../fake-provider/strict-openai.ts'
import { FINAL_TEXT, STRICT_VENDORS, strictVendorScript } from '../../fake-provider/strict-vendors.ts'
import { describeOnce } from '../../harness/backends.ts'
import { startUpstreams, storeKey, type Upstreams } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'
import { callWeather } from '../weather-tool.ts'
import { installClients } from './install-clients.ts'

const isWanted = process.env.COMMAND_LINE_CLIENTS !== 'off'
const TIME_LIMIT_MS = 120_000
const NOTE = 'The blue heron stands in the reeds.'

interface MastraOutput {
  text: string
  error?: unknown
  response: { messages: unknown[] }
}
/** The parts of Mastra that this test uses. Its own types are not installed. */
interface Mastra {
  Agent: new (
    options: object,
  ) => {
    generate(messages: unknown[]): Promise<MastraOutput>
    stream(messages: unknown[]): Promise<{ getFullOutput(): Promise<MastraOutput> }>
  }
}

describe.skipIf(!isWanted)('command-line clients', () => {
  let modules: string
  let upstreams: Upstreams
  const home = createTemporaryDirectory()
  const work = join(home, 'work')

  beforeAll(async () => {
    modules = await installClients()
    upstreams = await startUpstreams()
    await mkdir(work, { recursive: true })
    await Bun.write(join(work, 'note.txt'), NOTE)
  }, 320_000)
  afterAll(async () => {
    await endLeft()
    await upstreams?.stop()
  })

  /** Cline leaves a background process for later runs. The process is identified by its HOME variable. */
  async function endLeft(): Promise<void> {
    for (const pid of await readdir('/proc').catch(() => [])) {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      if (environment.split('\0').includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL')
    }
  }

  /** Runs a command in an otherwise empty environment. Returns its standard output. */
  async function run(command: string[], environment: Record<string, string>): Promise<string> {
    const [name = '', ...given] = command
    const child = Bun.spawn([join(modules, '.bin', name), ...given], {
      cwd: work,
      env: { PATH: process.env.PATH ?? '', HOME: home, ...environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: TIME_LIMIT_MS,
    })
    const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`${name} failed: ${complaint}${out}`)
    return out
  }

  describeOnce('through the proxy', backend => {
    const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
    let keys: Record<'sandbox' | 'direct' | 'aggregator', string>

    beforeAll(async () => {
      keys = {
        sandbox: await proxy.createKey({ type: 'test' }),
        direct: await proxy.createKey({ project: 'direct', type: 'project' }),
        aggregator: await proxy.createKey({ type: 'project' }),
      }
      for (const provider of ['openai', 'anthropic', 'groq'] as const)
        await storeKey(proxy.stores, 'direct', provider, 'sk-own')
    })
    beforeEach(() => upstreams.reset())

    async function runCodex(key: string, model: string): Promise<string> {
      const settings = [
        `model = "${model}"`,
        'model_provider = "proxy"',
        // With full access, Codex also searches the web, which only OpenAI's own models support.
        'web_search = "disabled"',
        '[model_providers.proxy]',
        'name = "proxy"',
        `base_url = "${proxy.baseUrl}"`,
        'env_key = "PROXY_KEY"',
        'wire_api = "responses"',
      ]
      await Bun.write(join(home, '.codex', 'config.toml'), `${settings.join('\n')}\n`)
      // The fake provider's script determines all commands, so a sandbox is not necessary.
      const mode = key === keys.sandbox ? 'read-only' : 'danger-full-access'
      const command = ['codex', 'exec', '--skip-git-repo-check', '--sandbox', mode, '--json', 'What does the note say?']
      return run(command, { PROXY_KEY: key })
    }

    function runClaude(key: string, model: string): Promise<string> {
      return run(['claude', '-p', 'What does the note say?', '--output-format', 'json'], {
        ANTHROPIC_BASE_URL: proxy.rootUrl,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        CLAUDE_CODE_MAX_CONTEXT_TOKENS: '1050000',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // Otherwise a response begins with a signed thinking block.
        MAX_THINKING_TOKENS: '0',
      })
    }

    test('Codex: a response of the sandbox', async () => {
      expect(await runCodex(keys.sandbox, 'openai/gpt-4o-mini')).toContain('[sandbox]')
    })

    test.each([
      ['direct', 'gpt-5-mini', 'openai'],
      ['aggregator', 'openai/gpt-4o-mini', 'aggregator'],
    ] as const)(
      'Codex: runs a command and reports the result, with the %s’s %s',
      async (target, model, fakeProvider) => {
        upstreams[fakeProvider].scriptOnce(
          { kind: 'answer', toolCalls: [{ name: 'exec_command', arguments: { cmd: 'cat note.txt' } }] },
          { kind: 'answer', content: 'It speaks of a heron.' },
        )
        expect(await runCodex(keys[target], model)).toContain('It speaks of a heron.')
        expect(upstreams[fakeProvider].requests.at(-1)?.bodyText).toContain(NOTE)
      },
    )

    test.each(STRICT_VENDORS.map(({ name, model }) => [name, model]))(
      'Codex: two commands, with %s',
      async (_, model) => {
        upstreams.aggregator.script(strictVendorScript({ name: 'exec_command', arguments: { cmd: 'cat note.txt' } }))
        expect(await runCodex(keys.aggregator, model ?? '')).toContain(FINAL_TEXT)
        expect(upstreams.aggregator.requests).toHaveLength(3)
      },
    )

    test.each(STRICT_VENDORS.map(({ name, model }) => [name, model]))(
      'Claude Code: two files, with %s',
      async (_, model) => {
        upstreams.aggregator.script(
          strictVendorScript({ name: 'Read', arguments: { file_path: join(work, 'note.txt') } }),
        )
        const { result, num_turns } = JSON.parse(await runClaude(keys.aggregator, model ?? ''))
        expect([num_turns > 2, result]).toEqual([true, FINAL_TEXT])
      },
    )

    test('opencode: reads a file and reports its content, with the aggregator’s model', async () => {
      const model = 'openai/gpt-4o-mini'
      const options = { baseURL: proxy.baseUrl, apiKey: keys.aggregator }
      const provider = {
        npm: '@ai-sdk/openai-compatible',
        name: 'proxy',
        options,
        models: { [model]: { name: 'any' } },
      }
      await Bun.write(join(work, 'opencode.json'), JSON.stringify({ autoupdate: false, provider: { proxy: provider } }))
      const call = { name: 'read', arguments: { filePath: join(work, 'note.txt') } }
      upstreams.aggregator.script(({ bodyText }) => {
        const { messages, tools } = JSON.parse(bodyText)
        // It also requests a title, without tools.
        const isFirst = tools && messages.at(-1).role !== 'tool'
        return isFirst ? { kind: 'answer', toolCalls: [call] } : { kind: 'answer', content: 'It speaks of a heron.' }
      })
      const command = ['opencode', 'run', '-m', `proxy/${model}`, 'What does the note say?']
      expect(await run(command, {})).toContain('It speaks of a heron.')
      expect(upstreams.aggregator.requests.some(({ bodyText }) => bodyText.includes(NOTE))).toBe(true)
    })

    test('Cline: reads a file and reports its content, with the aggregator’s model', async () => {
      const model = 'openai/gpt-4o-mini'
      upstreams.aggregator.scriptOnce(
        {
          kind: 'answer',
          toolCalls: [{ name: 'read_files', arguments: { files: [{ path: join(work, 'note.txt') }] } }],
        },
        { kind: 'answer', content: 'It speaks of a heron.' },
      )
      await run(['cline', 'auth', 'openai', '-k', keys.aggregator, '-m', model, '-b', proxy.baseUrl], {})
      expect(await run(['cline', '-c', work, '--json', 'What does the note say?'], {})).toContain(
        'It speaks of a heron.',
      )
      expect(upstreams.aggregator.requests.at(-1)?.bodyText).toContain(NOTE)
    })

    describe('Mastra: an agent with a tool, over two turns', () => {
      const schema = { type: 'object', properties: { place: { type: 'string' } } }

      test.each(
        ['gpt-5-mini', 'claude-haiku-4-5', 'llama-3.3-70b-versatile', 'openai/gpt-5-mini'].flatMap(model =>
          ['its own provider', 'the AI SDK’s'].flatMap(provider => [
            [model, provider, 'plain'] as const,
            [model, provider, 'streamed'] as const,
          ]),
        ),
      )('with %s by %s, %s', async (model, provider, how) => {
        callWeather(upstreams)
        const { Agent } = (await import(join(modules, '@mastra/core/dist/agent/index.js'))) as Mastra
        const at = { apiKey: keys[model.includes('/') ? 'aggregator' : 'direct'] }
        const places: unknown[] = []
        const agent = new Agent({
          id: 'weather',
          name: 'weather',
          instructions: 'Tell the weather.',
          model:
            provider === 'its own provider'
              ? { id: `proxy/${model}`, url: proxy.baseUrl, ...at }
              : createOpenAI({ baseURL: proxy.baseUrl, ...at })(model),
          tools: {
            get_weather: {
              id: 'get_weather',
              description: 'The weather of a place.',
              inputSchema: schema,
              async execute(input: unknown) {
                places.push(input)
                return 'Sunny in Linz'
              },
            },
          },
        })
        const messages: unknown[] = []
        const turn = async (content: string) => {
          messages.push({ role: 'user', content })
          const output =
            how === 'plain' ? await agent.generate(messages) : await (await agent.stream(messages)).getFullOutput()
          if (output.error) throw output.error
          messages.push(...output.response.messages)
          expect(output.text).toMatch(/.{10}/)
        }
        await turn(`What is the weather in Linz? ${crypto.randomUUID()}`)
        expect(places).toMatchObject([{ place: 'Linz' }])
        await turn('And where was that?')
      })
    })

    test('Claude Code: a response of the sandbox', async () => {
      const { result, is_error } = JSON.parse(await runClaude(keys.sandbox, 'openai/gpt-4o-mini'))
      expect([is_error, result]).toEqual([false, expect.stringContaining('[sandbox]')])
    })

    test('Claude Code: reads a file and reports its content, with the aggregator’s model', async () => {
      const path = join(work, 'note.txt')
      upstreams.aggregator.scriptOnce(
        { kind: 'answer', toolCalls: [{ name: 'Read', arguments: { file_path: path } }] },
        { kind: 'answer', content: 'It speaks of a heron.' },
      )
      const { result, num_turns } = JSON.parse(await runClaude(keys.aggregator, 'openai/gpt-4o-mini'))
      expect([num_turns, result]).toEqual([2, 'It speaks of a heron.'])
      expect(upstreams.aggregator.requests.at(-1)?.bodyText).toContain(NOTE)
    })

    test.each(['gpt-5.4', 'gpt-5.6'])('Claude Code: two steps of two calls each, with OpenAI’s own %s', async model => {
      const input = { file_path: join(work, 'note.txt') }
      upstreams.openai.script(createStrictOpenAi({ name: 'Read', arguments: input }).script)
      const { result, num_turns } = JSON.parse(await runClaude(keys.direct, model))
      expect([num_turns > 2, result]).toEqual([true, STRICT_OPENAI_TEXT])
      const requests = upstreams.openai.requests.filter(({ bodyText }) => bodyText.includes('"tools"'))
      expect([requests.length, requests.at(-1)?.bodyText.includes(NOTE)]).toEqual([3, true])
      expect(requests.at(-1)?.bodyText).toContain('"type":"reasoning"')
    })

    test('Claude Code: the same, with Anthropic itself', async () => {
      const input = { file_path: join(work, 'note.txt') }
      const use = { type: 'tool_use' as const, id: 'toolu_1', name: 'Read', input, caller: { type: 'direct' as const } }
      upstreams.anthropic.scriptOnce(
        { kind: 'answer', content: [use], stopReason: 'tool_use' },
        { kind: 'answer', content: [{ type: 'text', text: 'It speaks of a heron.', citations: null }] },
      )
      const { result } = JSON.parse(await runClaude(keys.direct, 'claude-haiku-4-5'))
      expect(result).toBe('It speaks of a heron.')
      expect(upstreams.anthropic.requests.at(-1)?.bodyText).toContain(NOTE)
    })
  })
})
