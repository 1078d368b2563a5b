/** Reads the name of a stream's event from its first bytes only. */

/** The name is in the first line, or at the beginning of the data. */
const LOOKED_AT_BYTES = 128

/** Whether the event has one of these names, in its `event` line or as its data's type. */
export function namesEvent(event: Uint8Array, names: readonly string[]): boolean {
  const beginning = Buffer.from(event.buffer, event.byteOffset, Math.min(event.length, LOOKED_AT_BYTES)).toString(
    'latin1',
  )
  const named =
    /^event: ?(.*?)\s*$/m.exec(beginning)?.[1] ?? /^data: ?\{\s*"type"\s*:\s*"([^"]*)"/m.exec(beginning)?.[1]
  return named !== undefined && names.includes(named)
}
