/** The openai package: streams are read from its events, plain responses as they are. */
import OpenAI from 'openai'
import type { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import type { ChatCompletion, ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { CorpusEntry } from '../../fake-provider/corpus.ts'
import type { Connection, Reader } from './read-forms.ts'

export const openaiReader: Reader = {
  async readStream(connection, entry) {
    const stream = clientOf(connection).chat.completions.stream({
      ...requestFor(entry),
      stream_options: { include_usage: true },
    })
    const heard = hear(stream)
    const completion = await stream.finalChatCompletion()
    return { ...readCompletion(completion), heard, finalContent: (await stream.finalContent()) || null }
  },
  async readPlain(connection, entry) {
    const completion = await clientOf(connection).chat.completions.create(requestFor(entry))
    return {
      ...readCompletion(completion),
      heard: whatWouldBeHeard(completion),
      finalContent: completion.choices[0]?.message.content || null,
    }
  },
}

export function clientOf({ baseURL, apiKey, fetch }: Connection): OpenAI {
  return new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0, logLevel: 'off' })
}

function requestFor(entry: CorpusEntry) {
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: entry.name }]
  return {
    model: 'openai/gpt-4o-mini',
    messages,
    ...(entry.clientSetOutputLimit ? { max_completion_tokens: 2 } : {}),
  }
}

interface Heard {
  /** The first choice, with its pieces joined. */
  content: string
  refusal: string
  calls: { index: number; name: string; arguments: string }[]
}

/** Collects the events of the stream, which a program sees before the end. */
function hear(stream: ChatCompletionStream): Heard {
  const heard: Heard = { content: '', refusal: '', calls: [] }
  stream.on('chunk', ({ choices }) => {
    for (const { index, delta } of choices) {
      if (index !== 0) continue
      heard.content += delta?.content ?? ''
      heard.refusal += delta?.refusal ?? ''
    }
  })
  stream.on('tool_calls.function.arguments.done', ({ index, name, arguments: args }) => {
    heard.calls.push({ index, name, arguments: args })
  })
  return heard
}

function whatWouldBeHeard({ choices }: ChatCompletion): Heard {
  const message = choices[0]?.message
  const calls = (message?.tool_calls ?? []).map((call, index) => ({ index, call }))
  return {
    content: message?.content ?? '',
    refusal: message?.refusal ?? '',
    calls: calls.flatMap(({ index, call }) =>
      call.type === 'custom' ? [] : [{ index, name: call.function.name, arguments: call.function.arguments }],
    ),
  }
}

/** Returns the fields that every client reads, without the client's own additions and unknown fields. */
function readCompletion({ id, model, created, choices, usage }: ChatCompletion) {
  return { id, model, created, choices: choices.map(readChoice), usage: usage ?? null }
}

function readChoice({ index, finish_reason, logprobs, message }: ChatCompletion.Choice) {
  const { content, refusal, tool_calls, function_call, audio } = message
  return {
    index,
    finishReason: finish_reason,
    content: content || null,
    refusal: refusal || null,
    calls: (tool_calls ?? []).map(readCall),
    functionCall: function_call ?? null,
    logprobs: logprobs ?? null,
    audio: audio ?? null,
  }
}

function readCall(call: NonNullable<ChatCompletion.Choice['message']['tool_calls']>[number]) {
  const called = call.type === 'custom' ? call.custom : { name: call.function.name, arguments: call.function.arguments }
  return { id: call.id, called }
}
