/** Runs the proxy with a clock that is off by WRONG_CLOCK_MS milliseconds. */
const wrongByMs = Number(process.env.WRONG_CLOCK_MS)
const RightDate = Date

class WrongDate extends RightDate {
  constructor(...given: [] | [number | string | Date]) {
    super(given.length === 0 ? WrongDate.now() : (given[0] as number))
  }
  static override now(): number {
    return RightDate.now() + wrongByMs
  }
}
Object.defineProperty(globalThis, 'Date', { value: WrongDate })
await import('../../src/process/server.ts')
