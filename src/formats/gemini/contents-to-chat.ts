/** Translates the contents of a Gemini request to chat messages. */

import { invalidRequestError } from '../../errors/errors.ts'
import { type ChatMessageBuilder, type ChatPart, createChatMessageBuilder } from '../chat/chat-message-builder.ts'
import { isPackedProviderExtras } from '../chat/provider-extras.ts'
import { asString, type JsonObject } from '../json/canonical.ts'
import { readArray, readEnum, readNonEmptyString, readObject, readString } from '../json/read-fields.ts'
import * as fields from './gemini-fields.ts'

/** A function call that has no response yet. */
interface OpenCall {
  /** The client's id; null if it sent none. */
  clientId: string | null
  name: string
  /** The id in the chat request. */
  id: string
}

/** A content, with the path of each of its parts. */
interface Turn {
  role: 'user' | 'model'
  parts: { part: JsonObject; at: string }[]
}

/**
 * Translates the system instruction and the contents. Packed provider extras are kept in `thinking_blocks` of their message, because only the
 * provider's keys can verify them. Throws a 400 that names an invalid part.
 */
export function translateContents(body: JsonObject): JsonObject[] {
  const conversation = createChatMessageBuilder()
  if (body.systemInstruction !== undefined) addSystem(body.systemInstruction, conversation)
  const turns = readTurns(body.contents)
  const calls = new CallPairs()
  for (const { role, parts } of turns) {
    if (role === 'model') addModelTurn(parts, conversation, calls)
    else addUserTurn(parts, conversation, calls)
  }
  return conversation.finish()
}

function addSystem(instruction: unknown, conversation: ChatMessageBuilder): void {
  const at = 'systemInstruction'
  const texts = translateTextContent(instruction, at)
  if (texts.length > 0) conversation.addSystem(texts, at)
}

/** Translates a content that may only be text. */
export function translateTextContent(content: unknown, param: string): ChatPart[] {
  const parts = readParts(fields.readFields(content, param, fields.CONTENT_FIELDS).parts, param)
  const texts = parts.flatMap(({ part, at }) => translatePart(part, at))
  if (texts.every(({ type }) => type === 'text')) return texts
  throw invalidRequestError(`${param}.parts must be text.`, `${param}.parts`)
}

/** Reads the contents. Contents of one role that follow each other are one turn, because clients keep each chunk of a stream as a content. */
function readTurns(contents: unknown): Turn[] {
  const turns: Turn[] = []
  for (const [index, item] of readArray(contents, 'contents').entries()) {
    const at = `contents[${index}]`
    const content = fields.readFields(item, at, fields.CONTENT_FIELDS)
    const given = readEnum(content.role ?? 'user', `${at}.role`, ['user', 'model', 'function', 'tool', 'system'])
    if (given === 'system') throw invalidRequestError(`${at}.role must be user or model.`, `${at}.role`)
    const role = given === 'model' ? 'model' : 'user'
    const parts = readParts(content.parts, at)
    const last = turns.at(-1)
    if (last?.role === role && role === 'model') last.parts.push(...parts)
    else turns.push({ role, parts })
  }
  if (turns.length === 0) throw invalidRequestError('contents must hold at least one content.', 'contents')
  if (turns.every(({ parts }) => parts.length === 0))
    throw invalidRequestError('contents must hold at least one part.', 'contents')
  return turns
}

function readParts(parts: unknown, param: string): Turn['parts'] {
  return readArray(parts ?? [], `${param}.parts`).map((item, index) => {
    const at = `${param}.parts[${index}]`
    return { part: fields.readFields(item, at, fields.PART_FIELDS), at }
  })
}

function addUserTurn(parts: Turn['parts'], conversation: ChatMessageBuilder, calls: CallPairs): void {
  const others: ChatPart[] = []
  let first = ''
  for (const { part, at } of parts) {
    if (part.functionResponse !== undefined)
      addResponse(part.functionResponse, `${at}.functionResponse`, conversation, calls)
    else if (part.thought !== true) {
      first ||= at
      others.push(...translatePart(part, at))
    }
  }
  if (others.length > 0) conversation.addUser(others, first)
}

function addResponse(value: unknown, param: string, conversation: ChatMessageBuilder, calls: CallPairs): void {
  const read = fields.readFields(value, param, fields.RESPONSE_FIELDS)
  const id = calls.answer(read, param)
  const response = JSON.stringify(readObject(read.response ?? {}, `${param}.response`))
  const media = readArray(read.parts ?? [], `${param}.parts`).flatMap((item, index) => {
    const at = `${param}.parts[${index}]`
    return translatePart(fields.readFields(item, at, fields.RESPONSE_PART_FIELDS), at)
  })
  conversation.addResult(id, [{ type: 'text', text: response }, ...media], param)
}

function addModelTurn(parts: Turn['parts'], conversation: ChatMessageBuilder, calls: CallPairs): void {
  const texts: ChatPart[] = []
  const called: Parameters<ChatMessageBuilder['addCall']>[] = []
  const blocks: JsonObject[] = []
  for (const { part, at } of parts) {
    // A signature without packed extras is omitted, because another model cannot use it.
    if (isPackedProviderExtras(part.thoughtSignature))
      blocks.push({ type: 'redacted_thinking', data: part.thoughtSignature })
    if (part.thought === true) continue
    if (part.functionCall !== undefined) called.push([readCall(part.functionCall, `${at}.functionCall`, calls), at])
    else for (const each of translatePart(part, at)) addPart(texts, each)
  }
  if (texts.length === 0 && called.length === 0) return
  const [first] = parts
  if (blocks.length > 0)
    conversation.addExtras({ fields: { thinking_blocks: blocks }, calls: {} }, asString(first?.at), null)
  if (texts.length > 0) conversation.addAssistant(texts, asString(first?.at))
  for (const call of called) conversation.addCall(...call)
}

/** Adds a part. A text continues the text before it, of which it may be a piece. */
function addPart(parts: ChatPart[], part: ChatPart): void {
  const last = parts.at(-1)
  if (last?.type === 'text' && part.type === 'text') last.text = asString(last.text) + asString(part.text)
  else parts.push(part)
}

function readCall(value: unknown, param: string, calls: CallPairs): Parameters<ChatMessageBuilder['addCall']>[0] {
  const call = fields.readFields(value, param, fields.CALL_FIELDS)
  const name = readNonEmptyString(call.name, `${param}.name`)
  const id = call.id === undefined ? null : readString(call.id, `${param}.id`) || null
  return { id: calls.open(id, name), name, arguments: JSON.stringify(readObject(call.args ?? {}, `${param}.args`)) }
}

/** Pairs function responses with their calls: by id, else by name and order, because calls may have no ids. */
class CallPairs {
  #open: OpenCall[] = []
  readonly #ids = new Set<string>()

  /** Adds a call. Returns its id in the chat request, which no other call has. */
  open(clientId: string | null, name: string): string {
    const id = clientId !== null && !this.#ids.has(clientId) ? clientId : `call_${this.#ids.size}`
    this.#ids.add(id)
    this.#open.push({ clientId, name, id })
    return id
  }

  /** Returns the id of the call to which this is the response. Throws a 400 if there is none. */
  answer({ id, name }: JsonObject, param: string): string {
    const clientId = id === undefined ? null : readString(id, `${param}.id`) || null
    const called = name === undefined ? null : readString(name, `${param}.name`) || null
    const isNamed = (call: OpenCall) => called !== null && call.name === called
    const call =
      (clientId !== null && this.#open.find(each => each.clientId === clientId)) ||
      this.#open.find(each => isNamed(each) && (clientId === null || each.clientId === null)) ||
      (called === null && clientId === null ? this.#open[0] : undefined)
    if (!call)
      throw invalidRequestError(
        `${param} must follow a functionCall of its id or its name that has no response yet.`,
        param,
      )
    this.#open = this.#open.filter(each => each !== call)
    return call.id
  }
}

/** Translates a part that is content: text, media, a file, or code that ran at Google. */
function translatePart(part: JsonObject, param: string): ChatPart[] {
  const { text, inlineData, fileData, executableCode, codeExecutionResult } = part
  if (text !== undefined) {
    const read = readString(text, `${param}.text`)
    return read === '' ? [] : [{ type: 'text', text: read }]
  }
  if (inlineData !== undefined) return [translateBlob(inlineData, `${param}.inlineData`)]
  if (fileData !== undefined) return [translateFile(fileData, `${param}.fileData`)]
  if (executableCode !== undefined) {
    const { code, language } = readObject(executableCode, `${param}.executableCode`)
    return [{ type: 'text', text: `\`\`\`${asString(language).toLowerCase()}\n${asString(code)}\n\`\`\`` }]
  }
  if (codeExecutionResult !== undefined) {
    const { outcome, output } = readObject(codeExecutionResult, `${param}.codeExecutionResult`)
    return [{ type: 'text', text: `${asString(outcome)}\n${asString(output)}`.trim() }]
  }
  if (part.thoughtSignature !== undefined || part.thought !== undefined) return []
  throw invalidRequestError(
    `${param} must have one of: text, inlineData, fileData, functionCall, functionResponse.`,
    param,
  )
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  'x-wav': 'wav',
  wave: 'wav',
  'vnd.wave': 'wav',
  'x-m4a': 'm4a',
  mp4: 'm4a',
}

function translateBlob(value: unknown, param: string): ChatPart {
  const blob = fields.readFields(value, param, fields.BLOB_FIELDS)
  const type = readString(blob.mimeType, `${param}.mimeType`).toLowerCase()
  const data = toPlainBase64(readString(blob.data, `${param}.data`))
  const url = `data:${type};base64,${data}`
  const [kind, subtype = ''] = type.split(';', 1)[0]?.split('/', 2) ?? []
  if (kind === 'image') return { type: 'image_url', image_url: { url } }
  if (kind === 'audio') return { type: 'input_audio', input_audio: { data, format: AUDIO_FORMATS[subtype] ?? subtype } }
  if (kind === 'video') return { type: 'video_url', video_url: { url } }
  if (kind === 'text' || subtype === 'json') return { type: 'text', text: Buffer.from(data, 'base64').toString() }
  return { type: 'file', file: { filename: nameOf(blob), file_data: url } }
}

function translateFile(value: unknown, param: string): ChatPart {
  const file = fields.readFields(value, param, fields.FILE_FIELDS)
  const url = readString(file.fileUri, `${param}.fileUri`)
  const type = asString(file.mimeType).toLowerCase()
  if (!/^https?:\/\//i.test(url) || /^https:\/\/generativelanguage\.googleapis\.com\//i.test(url))
    throw fields.createGoogleOnlyError(
      `${param}.fileUri`,
      'no other provider can read the file; send it in inlineData.',
    )
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  if (type.startsWith('video/') || /^https:\/\/(?:www\.)?youtu\.?be/i.test(url))
    return { type: 'video_url', video_url: { url } }
  if (type === 'application/pdf') return { type: 'file', file: { filename: nameOf(file), file_data: url } }
  throw invalidRequestError(
    `${param}.mimeType must be that of an image, a video or a PDF; send other files in inlineData.`,
    `${param}.mimeType`,
  )
}

/** Chat's files need a name, from which providers derive the file's type. */
function nameOf({ displayName }: JsonObject): string {
  return asString(displayName) || 'document.pdf'
}

/** Proto JSON also accepts the alphabet of URLs. */
function toPlainBase64(data: string): string {
  return data.replaceAll('-', '+').replaceAll('_', '/')
}
