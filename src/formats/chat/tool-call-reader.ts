/** Reads the tool calls of a chat response: in a stream their fragments may interleave, and other formats need one call after another. */

import type { JsonObject } from '../json/canonical.ts'
import type { PendingExtras } from './provider-extras.ts'
import { findContinuedCall, isCompleteJsonObject, readToolCallFragment, type ToolCallFragment } from './tool-calls.ts'

export interface ToolCallWriter {
  /** Returns a new id for a call whose provider gave none, or one that another call has. */
  createCallId(): string
  /** Calls come one after another. */
  startCall(id: string, name: string): void
  /** Adds a fragment of the last call's arguments. */
  addArguments(fragment: string): void
}

interface OpenCall extends ToolCallFragment {
  /** As the client gets it; '' until the call is started. */
  ownId: string
  /** What it carried beside chat's own fields, until its id is known. */
  held: JsonObject[]
  /** Of its text; negative until the call is started. */
  writtenChars: number
  isEnded: boolean
}

export class ToolCallReader {
  readonly #writer: ToolCallWriter
  readonly #carried: PendingExtras
  readonly #calls: OpenCall[] = []
  readonly #ids = new Set<string>()
  /** Position of the call whose fragments are written as they come. */
  #current = 0
  /** Whether a fragment came for a call that something else had followed: it could be written no more. */
  hasOmittedFragments = false

  constructor(writer: ToolCallWriter, carried: PendingExtras) {
    this.#writer = writer
    this.#carried = carried
  }

  /** Whether a call is not complete yet. */
  get isOpen(): boolean {
    const call = this.#calls[this.#current]
    return call !== undefined && !isWhole(call)
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
    call.held.push(fragment)
    this.#writeNext()
  }

  /** Writes what was held back. What follows in the response ends all calls. */
  end(): void {
    for (const call of this.#calls) {
      if (!call.isEnded) this.#write(call, true)
      call.isEnded = true
    }
    this.#current = this.#calls.length
  }

  /** Writes the calls in their order, as far as they have come: each waits until the one before it is complete. */
  #writeNext(): void {
    for (let call = this.#calls[this.#current]; call; call = this.#calls[++this.#current]) {
      this.#write(call)
      const isLast = this.#current === this.#calls.length - 1
      if (isLast || !isWhole(call)) return
      call.isEnded = true
    }
  }

  #open({ index, isCustom }: ToolCallFragment): OpenCall {
    const opened = { index: index ?? this.#calls.length, id: '', name: '', text: '', isCustom }
    const call: OpenCall = { ...opened, ownId: '', held: [], writtenChars: -1, isEnded: false }
    this.#calls.push(call)
    return call
  }

  /** A call without a name is written at the end, as is one of a custom tool, whose input has to become JSON. */
  #write(call: OpenCall, isEnd = false): void {
    if (!isEnd && (call.name === '' || call.isCustom)) return
    if (call.ownId === '') {
      call.ownId = call.id !== '' && !this.#ids.has(call.id) ? call.id : this.#writer.createCallId()
      this.#ids.add(call.ownId)
    }
    const isNew = call.writtenChars < 0
    // Before the call begins, because what it carried may have to come before it.
    for (const fragment of call.held.splice(0)) this.#carried.addCall(call.ownId, fragment)
    if (isNew) this.#writer.startCall(call.ownId, call.name)
    const rest = call.text.slice(Math.max(0, call.writtenChars))
    call.writtenChars = call.text.length
    if (rest !== '') this.#writer.addArguments(call.isCustom ? JSON.stringify({ input: rest }) : rest)
  }
}

/** A name may come last. The input of a custom tool is any text, so that only what follows can end it. */
function isWhole({ name, text, isCustom }: OpenCall): boolean {
  return name !== '' && !isCustom && isCompleteJsonObject(text)
}
