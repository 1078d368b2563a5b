/** Builds output items. Each builder writes the events of its item, and contains the complete item at the end. */

import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import type { ResponseEventWriter } from './response-events.ts'
import { type ClientDefinedTool, unwrapToolInput } from './response-tools-to-chat.ts'

export type ItemStatus = 'completed' | 'incomplete'

export interface OutputItemBuilder {
  kind: 'reasoning' | 'message' | 'call' | 'image'
  /** The current state; complete after `close`. */
  item: JsonObject
  close(status: ItemStatus): void
}

interface ItemTarget {
  writer: ResponseEventWriter
  /** The item's position in the response's output. */
  index: number
  id: string
}

export interface ReasoningItemBuilder extends OutputItemBuilder {
  addReasoning(text: string): void
  /** Ends the text. `close` then ends the item. */
  closeText(): void
  /** Sets `encrypted_content`. */
  setEncryptedContent(text: string): void
}

export function beginReasoningItem({ writer, index, id }: ItemTarget): ReasoningItemBuilder {
  const part = { type: 'summary_text', text: '' }
  const item: JsonObject = { id, type: 'reasoning', status: 'in_progress', summary: [] }
  const at = { item_id: id, output_index: index, summary_index: 0 }
  writer.write('response.output_item.added', { output_index: index, item: structuredClone(item) })
  return {
    kind: 'reasoning',
    item,
    addReasoning(text) {
      if (part.text === '') writer.write('response.reasoning_summary_part.added', { ...at, part: { ...part } })
      part.text += text
      item.summary = [part]
      writer.write('response.reasoning_summary_text.delta', { ...at, delta: text })
    },
    setEncryptedContent(text) {
      item.encrypted_content = text
    },
    closeText() {
      if (part.text !== '') writer.closeSummary(at, { ...part })
    },
    close(status) {
      item.status = status
      writer.write('response.output_item.done', { output_index: index, item: structuredClone(item) })
    },
  }
}

export interface MessageItemBuilder extends OutputItemBuilder {
  addText(text: string, logprobs: unknown[]): void
  addRefusal(text: string): void
  /** Adds annotations, even after `close`, because providers send sources last. Returns false if there is no text to annotate. */
  addAnnotations(annotations: JsonObject[]): boolean
}

export function beginMessageItem({ writer, index, id }: ItemTarget): MessageItemBuilder {
  const content: JsonObject[] = []
  const item: JsonObject = { id, type: 'message', status: 'in_progress', role: 'assistant', content }
  let isOpen = true
  writer.write('response.output_item.added', { output_index: index, item: structuredClone(item) })

  const partPosition = () => ({ item_id: id, output_index: index, content_index: content.length - 1 })

  function closePart(): void {
    const part = content.at(-1)
    if (part) writer.closePart(partPosition(), structuredClone(part))
  }

  /** Returns the open part of the same kind. If there is none, closes the open part and begins `fresh`. */
  function openPart(fresh: JsonObject): JsonObject {
    const last = content.at(-1)
    if (last?.type === fresh.type) return last as JsonObject
    closePart()
    content.push(fresh)
    writer.write('response.content_part.added', { ...partPosition(), part: structuredClone(fresh) })
    return fresh
  }

  return {
    kind: 'message',
    item,
    addText(text, logprobs) {
      const part = openPart({ type: 'output_text', text: '', annotations: [], logprobs: [] })
      part.text += text
      ;(part.logprobs as unknown[]).push(...logprobs)
      // An empty text is not sent as a delta.
      if (text !== '') writer.write('response.output_text.delta', { ...partPosition(), delta: text, logprobs })
    },
    addRefusal(text) {
      const part = openPart({ type: 'refusal', refusal: '' })
      part.refusal += text
      writer.write('response.refusal.delta', { ...partPosition(), delta: text })
    },
    addAnnotations(annotations) {
      const part = content.findLast(({ type }) => type === 'output_text')
      if (!part) return false
      const known = part.annotations as JsonObject[]
      for (const annotation of annotations.map(translateAnnotation)) {
        known.push(annotation)
        const at = { ...partPosition(), content_index: content.indexOf(part), annotation_index: known.length - 1 }
        if (isOpen) writer.write('response.output_text.annotation.added', { ...at, annotation })
      }
      return true
    },
    close(status) {
      isOpen = false
      closePart()
      item.status = status
      writer.write('response.output_item.done', { output_index: index, item: structuredClone(item) })
    },
  }
}

/** Moves a citation's fields to the top level, where Responses has them. Chat nests them under the type. */
function translateAnnotation(annotation: JsonObject): JsonObject {
  const { type } = annotation
  const cited = typeof type === 'string' ? annotation[type] : undefined
  return isJsonObject(cited) ? { type, ...cited } : annotation
}

/** Writes an image as an item of the image generation tool. The item is complete at once. */
export function writeImageItem({ writer, index, id }: ItemTarget, base64: string): OutputItemBuilder {
  const item: JsonObject = { id, type: 'image_generation_call', status: 'completed', result: base64 }
  const initialItem = { ...item, status: 'in_progress', result: null }
  writer.write('response.output_item.added', { output_index: index, item: initialItem })
  writer.write('response.output_item.done', { output_index: index, item })
  return { kind: 'image', item, close() {} }
}

export interface CallItemBuilder extends OutputItemBuilder {
  addArguments(fragment: string): void
}

export interface CalledTool extends ClientDefinedTool {
  callId: string
}

export function beginCallItem({ writer, index, id }: ItemTarget, tool: CalledTool): CallItemBuilder {
  const { callId, name, isCustom } = tool
  const called = { call_id: callId, name, ...(tool.namespace === '' ? {} : { namespace: tool.namespace }) }
  const item: JsonObject = isCustom
    ? { id, type: 'custom_tool_call', status: 'in_progress', input: '', ...called }
    : { id, type: 'function_call', status: 'in_progress', arguments: '', ...called }
  const at = { item_id: id, output_index: index }
  let text = ''
  writer.write('response.output_item.added', { output_index: index, item: { ...item } })
  return {
    kind: 'call',
    item,
    addArguments(fragment) {
      text += fragment
      if (isCustom) return
      item.arguments = text
      writer.write('response.function_call_arguments.delta', { ...at, delta: fragment })
    },
    close(status) {
      item.status = status
      if (isCustom) {
        // The input can be unwrapped only when its JSON is complete.
        item.input = unwrapToolInput(text)
        if (item.input !== '') writer.write('response.custom_tool_call_input.delta', { ...at, delta: item.input })
        writer.write('response.custom_tool_call_input.done', { ...at, input: item.input })
      } else writer.write('response.function_call_arguments.done', { ...at, name, arguments: text })
      writer.write('response.output_item.done', { output_index: index, item: { ...item } })
    },
  }
}
