/** A tool of the clients in other languages. Fake providers call it unless the request contains its result. */
import type { Upstreams } from '../harness/direct-upstreams.ts'

const CALL = { name: 'get_weather', arguments: { place: 'Linz' } }
const USE = {
  type: 'tool_use' as const,
  id: 'toolu_weather',
  name: CALL.name,
  input: CALL.arguments,
  caller: { type: 'direct' as const },
}

function wantsWeather(body: unknown): boolean {
  const text = JSON.stringify(body) ?? ''
  const isAnswered = /"role":"tool"|"function_call_output"|"tool_result"/.test(text)
  return /"tools":\[/.test(text) && text.includes('"get_weather"') && !isAnswered
}

export function callWeather({ openai, aggregator, groq, anthropic }: Upstreams): void {
  for (const fakeProvider of [openai, aggregator, groq]) {
    fakeProvider.script(({ body }) => (wantsWeather(body) ? { kind: 'answer', toolCalls: [CALL] } : undefined))
  }
  anthropic.script(({ body }) =>
    wantsWeather(body) ? { kind: 'answer', content: [USE], stopReason: 'tool_use' } : undefined,
  )
}
