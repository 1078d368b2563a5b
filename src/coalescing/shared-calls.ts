/** The calls of this process that identical requests can join, by name. */
import { SharedCall, type Subscriber } from './shared-call.ts'

export interface Joined {
  call: SharedCall
  subscriber: Subscriber
  /** Whether this request started the call. It then has to lead, or to find the process that does. */
  isFirst: boolean
}

export class SharedCalls {
  readonly #calls = new Map<string, SharedCall>()

  /**
   * Joins the call in flight, else starts one that later requests find. Returns null when the call in flight is too far on to be joined.
   */
  join(name: string, live: boolean): Joined | null {
    const underWay = this.#calls.get(name)
    const call = underWay ?? this.#start(name)
    const subscriber = call.subscribe(live)
    return subscriber && { call, subscriber, isFirst: !underWay }
  }

  #start(name: string): SharedCall {
    const call = new SharedCall()
    this.#calls.set(name, call)
    void call.settled.then(() => {
      if (this.#calls.get(name) === call) this.#calls.delete(name)
    })
    return call
  }
}

/** Starts a call that no other request can join. */
export function startAlone(live: boolean): Joined {
  const call = new SharedCall()
  const subscriber = call.subscribe(live)
  if (!subscriber) throw new Error('A new call takes its first subscriber')
  return { call, subscriber, isFirst: true }
}
