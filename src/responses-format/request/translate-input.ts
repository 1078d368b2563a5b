/** Translates the items of a Responses request to chat messages. */

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../../json/read-fields.ts'
import { type Conversation, createConversation } from '../../openai-format/conversation.ts'
import { unpackProof } from '../../openai-format/thought.ts'
import { notTranslated } from './check-fields.ts'
import { wrapInput } from './custom-tools.ts'
import { chatNameOf } from './tool-names.ts'
import { translateContent } from './translate-content.ts'
import { readNamespace } from './translate-tools.ts'

/** Throws a 400 that names the invalid item. */
export function translateInput(body: JsonObject): JsonObject[] {
  const conversation = createConversation()
  const instructions = readGiven(body, 'instructions')
  if (instructions !== undefined) conversation.system(translateContent(instructions, 'instructions'))
  const input = readGiven(body, 'input')
  if (typeof input === 'string') conversation.user([{ type: 'text', text: input }])
  else {
    for (const [index, item] of readList(input, 'input').entries()) {
      const param = `input[${index}]`
      translateItem(readObject(item, param), param, conversation)
    }
  }
  const messages = conversation.finish()
  if (messages.length > 0) return messages
  throw invalidRequest('input must hold something to answer.', 'input')
}

const TRANSLATIONS: Record<string, (item: JsonObject, param: string, conversation: Conversation) => void> = {
  message: translateMessage,
  function_call(item, param, conversation) {
    const text = readText(item.arguments, `${param}.arguments`)
    conversation.call({ ...readCall(item, param), arguments: text })
  },
  custom_tool_call(item, param, conversation) {
    const text = wrapInput(readText(item.input, `${param}.input`))
    conversation.call({ ...readCall(item, param), arguments: text })
  },
  function_call_output: translateOutput,
  custom_tool_call_output: translateOutput,
  // Reasoning without its proof is dropped: another vendor's model cannot use it.
  reasoning: (item, _param, conversation) => conversation.addProof(unpackProof(item.encrypted_content) ?? {}),
}

function translateItem(item: JsonObject, param: string, conversation: Conversation): void {
  const type = item.type === undefined ? 'message' : readText(item.type, `${param}.type`)
  const translate = Object.hasOwn(TRANSLATIONS, type) ? TRANSLATIONS[type] : undefined
  if (!translate) throw notTranslated(`${param}.type`, 'this kind of item has no counterpart in chat completions.')
  translate(item, param, conversation)
}

function readCall(item: JsonObject, param: string): { id: string; name: string } {
  const own = { name: readText(item.name, `${param}.name`), namespace: readNamespace(item, param) }
  return { id: readText(item.call_id, `${param}.call_id`), name: chatNameOf(own) }
}

function translateOutput(item: JsonObject, param: string, conversation: Conversation): void {
  const parts = translateContent(item.output, `${param}.output`)
  conversation.result(readText(item.call_id, `${param}.call_id`), parts)
}

function translateMessage(item: JsonObject, param: string, conversation: Conversation): void {
  const role = readChoice(item.role, `${param}.role`, ['user', 'assistant', 'system', 'developer'])
  const at = `${param}.content`
  if (role === 'user') conversation.user(translateContent(item.content, at))
  // `developer` becomes `system`, which every provider knows; OpenAI treats both alike.
  else if (role !== 'assistant') conversation.system(translateContent(item.content, at))
  else addAssistant(item.content, at, conversation)
}

function addAssistant(content: unknown, param: string, conversation: Conversation): void {
  const given = Array.isArray(content) ? content : [{ type: 'output_text', text: content }]
  const isRefusal = (part: unknown) => typeof part === 'object' && part !== null && 'refusal' in part
  const refusals = given.filter(isRefusal).map(part => readText(part.refusal, param))
  const parts = translateContent(
    given.filter(part => !isRefusal(part)),
    param,
  )
  conversation.assistant(parts, refusals.length > 0 ? refusals.join('') : undefined)
}
