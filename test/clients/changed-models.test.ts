/** Conversations and tool loops that continue with another model: by the client, by an alias, or by a fallback. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { beforeEach, expect, test } from 'vitest'
import { FINAL_TEXT, STRICT_VENDORS, strictVendorScript, TOOL } from '../fake-provider/strict-vendors.ts'
import { describeOnce } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const RESULT = 'Blue.'
const SCHEMA = { type: 'object' as const, properties: { at: { type: 'string' as const } } }
const ENDPOINTS = ['chat', 'responses', 'messages'] as const
const HOW = ['as received', 'known fields alone'] as const

const MODELS = STRICT_VENDORS.map(({ model }) => model)
const CHANGES = MODELS.flatMap(from => MODELS.filter(to => to !== from).map(to => [from, to] as const))

describeOnce('another model continues', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let apiKey: string
  let question: string

  beforeEach(async () => {
    upstreams.reset()
    upstreams.aggregator.script(strictVendorScript())
    apiKey = await proxy.createKey({ project: `p-${crypto.randomUUID()}`, type: 'project' })
    question = `What colour is it? ${crypto.randomUUID()}`
  })

  type Message = OpenAI.ChatCompletionMessage
  const knownFields = ({ role, content, tool_calls: calls }: Message) => ({
    role,
    content,
    ...(calls && {
      tool_calls: calls.flatMap(call =>
        call.type === 'function'
          ? [
              {
                id: call.id,
                type: call.type,
                function: { name: call.function.name, arguments: call.function.arguments },
              },
            ]
          : [],
      ),
    }),
  })

  /** Runs a loop of three steps, each with its model, and returns its last text. */
  async function loopAtChat(models: readonly string[], how: string): Promise<string | null> {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    const tools = [{ type: 'function' as const, function: { name: TOOL, parameters: SCHEMA } }]
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
    let text: string | null = null
    for (const model of models) {
      const { choices } = await client.chat.completions.create({ model, tools, messages })
      const message = choices[0]?.message as Message
      text = message.content
      messages.push(how === 'as received' ? message : knownFields(message))
      for (const { id } of message.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: RESULT })
    }
    return text
  }

  async function loopAtResponses(models: readonly string[], how: string): Promise<string> {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    const tools = [{ type: 'function' as const, name: TOOL, parameters: SCHEMA, strict: false }]
    const input: ResponseInput = [{ role: 'user', content: question }]
    let text = ''
    for (const model of models) {
      const { output, output_text } = await client.responses.create({ model, tools, input })
      text = output_text
      input.push(...(output.filter(({ type }) => how === 'as received' || type !== 'reasoning') as ResponseInput))
      for (const item of output)
        if (item.type === 'function_call')
          input.push({ type: 'function_call_output', call_id: item.call_id, output: RESULT })
    }
    return text
  }

  async function loopAtMessages(models: readonly string[], how: string): Promise<string> {
    const client = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
    const tools = [{ name: TOOL, input_schema: SCHEMA }]
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
    let text = ''
    for (const model of models) {
      const { content } = await client.messages.create({ model, max_tokens: 500, messages, tools })
      text = content.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('')
      const kept = content.filter(({ type }) => how === 'as received' || !type.includes('thinking'))
      messages.push({ role: 'assistant', content: kept })
      const results = content.flatMap(block => (block.type === 'tool_use' ? [block.id] : []))
      messages.push({
        role: 'user',
        content: results.map(id => ({ type: 'tool_result' as const, tool_use_id: id, content: RESULT })),
      })
    }
    return text
  }

  const LOOPS = { chat: loopAtChat, responses: loopAtResponses, messages: loopAtMessages }

  test.each(
    draw(CHANGES.flatMap(([from, to]) => ENDPOINTS.flatMap(at => HOW.map(how => [from, to, at, how] as const)))),
  )('%s, then %s, at %s: %s', async (from, to, at, how) => {
    expect(await LOOPS[at]([from, to, to], how)).toContain(FINAL_TEXT)
    expect(upstreams.aggregator.requests).toHaveLength(3)
  })

  const STRICTEST = MODELS.filter(model => /deepseek-v3.2|gemini-3-pro|mistral/.test(model))
  const STEPS = STRICTEST.flatMap(to => MODELS.filter(from => from !== to).map(from => [from, to] as const))

  test.each(draw(STEPS))('%s, then %s, by an alias', async (from, to) => {
    const project = `p-${crypto.randomUUID()}`
    apiKey = await proxy.createKey({ project, type: 'project', settings: { aliases: `smart=${to}` } })
    expect(await loopAtChat([from, 'smart', 'smart'], 'as received')).toContain(FINAL_TEXT)
  })

  test.each(draw(STEPS))('%s, then %s, by a fallback', async (from, to) => {
    const strict = strictVendorScript()
    let isDown = false
    upstreams.aggregator.script(request => {
      const { model, messages } = request.body as { model: string; messages: object[] }
      isDown ||= messages.length > 1
      return isDown && model === from ? { kind: 'error', status: 503, message: 'Down.' } : strict(request)
    })
    apiKey = await proxy.createKey({
      project: `p-${crypto.randomUUID()}`,
      type: 'project',
      settings: { fallbacks: to },
    })
    expect(await loopAtChat([from, from, from], 'known fields alone')).toContain(FINAL_TEXT)
  })

  test.each(draw(CHANGES))('%s, then %s, and back again', async (from, to) => {
    expect(await loopAtChat([from, to, from], 'known fields alone')).toContain(FINAL_TEXT)
    expect(upstreams.aggregator.requests).toHaveLength(3)
  })
})
