/** Translates a Messages conversation to chat messages. */

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../../json/read-fields.ts'
import { type Conversation, createConversation, type Part } from '../../openai-format/conversation.ts'
import { unpackProof } from '../../openai-format/thought.ts'
import { type BlockOptions, readBlocks, translateBlock, translateContent } from './translate-blocks.ts'

/** Throws a 400 that names the invalid block. */
export function translateMessages(body: JsonObject, options: BlockOptions): JsonObject[] {
  const conversation = createConversation()
  const system = translateContent(readGiven(body, 'system'), 'system', options)
  if (system.length > 0) conversation.system(system)
  const messages = readList(body.messages, 'messages')
  if (messages.length === 0) throw invalidRequest('messages: at least one message is required', 'messages')
  for (const [index, item] of messages.entries()) {
    const param = `messages[${index}]`
    const message = readObject(item, param)
    const role = readChoice(message.role, `${param}.role`, ['user', 'assistant', 'system'])
    const at = `${param}.content`
    if (role === 'system') conversation.system(translateContent(message.content, at, options))
    else {
      const read = role === 'user' ? readUser : readAssistant
      read(readBlocks(message.content, at), at, conversation, options)
    }
  }
  return conversation.finish()
}

function readUser(blocks: JsonObject[], param: string, conversation: Conversation, options: BlockOptions): void {
  const parts: Part[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`
    if (block.type === 'tool_result') readResult(block, at, conversation, options)
    else parts.push(...translateBlock(block, at, options))
  }
  if (parts.length > 0) conversation.user(parts)
}

function readResult(block: JsonObject, param: string, conversation: Conversation, options: BlockOptions): void {
  const parts = translateContent(block.content, `${param}.content`, options)
  // Chat has no field for a tool's failure.
  if (block.is_error === true) parts.unshift({ type: 'text', text: 'The tool failed.' })
  conversation.result(readText(block.tool_use_id, `${param}.tool_use_id`), parts)
}

function readAssistant(blocks: JsonObject[], param: string, conversation: Conversation, options: BlockOptions): void {
  const parts: Part[] = []
  const calls: Parameters<Conversation['call']>[0][] = []
  const proof: JsonObject = {}
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`
    if (block.type === 'tool_use') calls.push(readCall(block, at))
    // Reasoning without its proof is dropped: another model cannot use it.
    else if (block.type === 'thinking') Object.assign(proof, unpackProof(block.signature))
    else if (block.type === 'redacted_thinking') Object.assign(proof, unpackProof(block.data))
    else parts.push(...translateBlock(block, at, options))
  }
  if (parts.length > 0) conversation.assistant(parts)
  for (const call of calls) conversation.call(call)
  if (parts.length > 0 || calls.length > 0) conversation.addProof(proof)
}

function readCall(block: JsonObject, param: string): Parameters<Conversation['call']>[0] {
  return {
    id: readText(block.id, `${param}.id`),
    name: readText(block.name, `${param}.name`),
    arguments: JSON.stringify(readObject(block.input ?? {}, `${param}.input`)),
  }
}
