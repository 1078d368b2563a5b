/** The Vercel AI SDK with its provider for OpenAI-compatible servers. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import type { CorpusEntry } from '../../fake-provider/corpus.ts'
import { namesOfTools } from './play-corpus.ts'
import type { Connection, Reader } from './read-forms.ts'

export const aiSdkReader: Reader = {
  async readStream(connection, entry) {
    let failure: unknown
    const result = streamText({
      ...requestFor(connection, entry),
      onError({ error }) {
        failure ??= error
      },
    })
    await result.consumeStream()
    if (failure !== undefined) throw failure
    return {
      id: (await result.response).id,
      text: await result.text,
      reasoning: (await result.reasoningText) ?? '',
      calls: (await result.toolCalls).map(readCall),
      finishReason: await result.finishReason,
      rawFinishReason: await result.rawFinishReason,
      usage: await result.usage,
    }
  },
  async readPlain(connection, entry) {
    const result = await generateText(requestFor(connection, entry))
    return {
      id: result.response.id,
      text: result.text,
      reasoning: result.reasoningText ?? '',
      calls: result.toolCalls.map(readCall),
      finishReason: result.finishReason,
      rawFinishReason: result.rawFinishReason,
      usage: result.usage,
    }
  },
}

export function modelOf({ baseURL, apiKey, fetch }: Connection, includeUsage = true) {
  const provider = createOpenAICompatible({
    name: 'proxy',
    baseURL,
    apiKey,
    fetch,
    includeUsage,
    supportsStructuredOutputs: true,
  })
  return provider.chatModel('openai/gpt-4o-mini')
}

function requestFor(connection: Connection, entry: CorpusEntry) {
  const named = namesOfTools(entry).map(name => [name, tool({ inputSchema: jsonSchema({ type: 'object' }) })])
  return {
    model: modelOf(connection),
    prompt: entry.name,
    tools: Object.fromEntries(named) as ToolSet,
    maxRetries: 0,
    ...(entry.clientSetOutputLimit ? { maxOutputTokens: 2 } : {}),
  }
}

function readCall({ toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: unknown }) {
  return { id: toolCallId, name: toolName, input }
}
