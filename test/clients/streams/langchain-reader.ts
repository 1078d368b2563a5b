/** LangChain.js: the sum of a stream's chunks, and whole messages. */
import type { AIMessage, AIMessageChunk, UsageMetadata } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import type { CorpusEntry } from '../../fake-provider/corpus.ts'
import type { Connection, Reader } from './read-forms.ts'

export const langchainReader: Reader = {
  async readStream(connection, entry) {
    let whole: AIMessageChunk | undefined
    for await (const chunk of await modelOf(connection, entry).stream(entry.name)) {
      whole = whole === undefined ? chunk : whole.concat(chunk)
    }
    if (whole === undefined) throw new Error('The stream was empty')
    return readMessage(whole)
  },
  async readPlain(connection, entry) {
    return readMessage(await modelOf(connection, entry).invoke(entry.name))
  },
}

export function modelOf({ baseURL, apiKey, fetch }: Connection, entry?: CorpusEntry): ChatOpenAI {
  return new ChatOpenAI({
    model: 'openai/gpt-4o-mini',
    apiKey,
    maxRetries: 0,
    configuration: { baseURL, fetch, logLevel: 'off' },
    ...(entry?.clientSetOutputLimit ? { maxTokens: 2 } : {}),
  })
}

function readMessage(message: AIMessage | AIMessageChunk) {
  const { id, content, tool_calls, response_metadata, additional_kwargs, usage_metadata } = message
  return {
    id,
    content,
    calls: (tool_calls ?? []).map(call => ({ id: call.id, name: call.name, args: call.args })),
    finishReason: response_metadata.finish_reason,
    reasoning: additional_kwargs.reasoning_content ?? null,
    usage: readUsage(usage_metadata),
  }
}

/** Without reported usage, a plain response has an empty object and a stream has nothing. */
function readUsage(usage: UsageMetadata | undefined) {
  const promptTokens = usage?.input_tokens ?? 0
  const completionTokens = usage?.output_tokens ?? 0
  return { promptTokens, completionTokens }
}
