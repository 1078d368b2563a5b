/** Reads the tool calls of a chat response and writes them one after another. In a stream, their fragments may interleave. */

import type { JsonObject } from '../json/canonical.ts'
import type { BufferedProviderExtras } from './provider-extras.ts'
import { findContinuedCall, isCompleteJsonObject, readToolCallFragment, type ToolCallFragment } from './tool-calls.ts'

export interface ToolCallWriter {
  /** Returns a new id for a call whose id is missing, or is that of another call. */
  createCallId(): string
  /** Starts a call. The call before it has ended. */
  startCall(id: string, name: string): void
  /** Adds a fragment of the last call's arguments. */
  addArguments(fragment: string): void
}

interface OpenCall extends ToolCallFragment {
  /** The id for the client; '' until the call is started. */
  clientId: string
  /** Fragments whose provider extras wait until the client's id is known. */
  pendingFragments: JsonObject[]
  /** Number of written characters of its text; negative until the call is started. */
  writtenChars: number
  isEnded: boolean
}

export class ToolCallReader {
  readonly #writer: ToolCallWriter
  readonly #extras: BufferedProviderExtras
  readonly #calls: OpenCall[] = []
  readonly #ids = new Set<string>()
  /** Index of the call whose fragments are written as they arrive. */
  #current = 0
  /** Whether a fragment was omitted because its call had already ended. */
  hasOmittedFragments = false

  constructor(writer: ToolCallWriter, extras: BufferedProviderExtras) {
    this.#writer = writer
    this.#extras = extras
  }

  /** Whether a call is not complete yet. */
  get isOpen(): boolean {
    const call = this.#calls[this.#current]
    return call !== undefined && !isComplete(call)
  }

  read(fragment: JsonObject): void {
    const read = readToolCallFragment(fragment)
    const call = findContinuedCall(this.#calls, read, known => known) ?? this.#open(read)
    if (call.isEnded) {
      this.hasOmittedFragments ||= read.text.trim() !== ''
      return
    }
    if (call.name === '') call.name = read.name
    if (call.id === '') call.id = read.id
    call.text += read.text
    call.pendingFragments.push(fragment)
    this.#writeNext()
  }

  /** Writes the pending fragments and ends all calls. */
  end(): void {
    for (const call of this.#calls) {
      if (!call.isEnded) this.#write(call, true)
      call.isEnded = true
    }
    this.#current = this.#calls.length
  }

  /** Writes the calls in order, as far as they have arrived. Each waits until the one before it is complete. */
  #writeNext(): void {
    for (let call = this.#calls[this.#current]; call; call = this.#calls[++this.#current]) {
      this.#write(call)
      const isLast = this.#current === this.#calls.length - 1
      if (isLast || !isComplete(call)) return
      call.isEnded = true
    }
  }

  #open({ index, isCustom }: ToolCallFragment): OpenCall {
    const opened = { index: index ?? this.#calls.length, id: '', name: '', text: '', isCustom }
    const call: OpenCall = { ...opened, clientId: '', pendingFragments: [], writtenChars: -1, isEnded: false }
    this.#calls.push(call)
    return call
  }

  /** Writes a call. A call without a name is written at the end, like a custom tool's call, whose input has to become JSON. */
  #write(call: OpenCall, isEnd = false): void {
    if (!isEnd && (call.name === '' || call.isCustom)) return
    if (call.clientId === '') {
      call.clientId = call.id !== '' && !this.#ids.has(call.id) ? call.id : this.#writer.createCallId()
      this.#ids.add(call.clientId)
    }
    const isNew = call.writtenChars < 0
    // The extras are added before the call begins, because they may have to be written before it.
    for (const fragment of call.pendingFragments.splice(0)) this.#extras.addCall(call.clientId, fragment)
    if (isNew) this.#writer.startCall(call.clientId, call.name)
    const rest = call.text.slice(Math.max(0, call.writtenChars))
    call.writtenChars = call.text.length
    if (rest !== '') this.#writer.addArguments(call.isCustom ? JSON.stringify({ input: rest }) : rest)
  }
}

/** Whether a call is complete. Its name may arrive last. The input of a custom tool is any text, so its end is not recognizable. */
function isComplete({ name, text, isCustom }: OpenCall): boolean {
  return name !== '' && !isCustom && isCompleteJsonObject(text)
}
